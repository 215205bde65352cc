// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Run, RunHandle } from 'lanefold';

import { expectSound } from '../support/log.ts';
import type { Answer, ExternalCall } from './fixtures/call-server.ts';
import { crashAt, pointsOf, sampleOf } from './crash-points.ts';
import { patient, startHarness, type FaultHarness } from './harness.ts';

/** Leases that expire only through `expireLease`. */
const worker = { ...patient, concurrency: 200 };

interface Case {
  strategy: string;
  strategyOptions?: object;
  /** Its calls are under way together. How many commits store their answers depends on timing, so only calls are crash points. */
  together?: true;
}

const tree = { maxDepth: 2, branchingFactor: 2, branches: 2, recordThoughts: true };
// the first part of a thread's id says which case its run is
const cases: Record<string, Case> = {
  cot: { strategy: 'cot' },
  cod: { strategy: 'cod' },
  aot: { strategy: 'aot' },
  tot: { strategy: 'tot', strategyOptions: { ...tree, concurrency: 1 } },
  wide: { strategy: 'tot', strategyOptions: tree, together: true },
  got: { strategy: 'got', strategyOptions: { generations: 1, branches: 2, concurrency: 1 } },
  trm: { strategy: 'trm', strategyOptions: { maxSupervisionSteps: 1 } },
  adaptive: { strategy: 'adaptive', strategyOptions: { strategy: 'aot' } },
};
const caseOf = (threadId: string): Case => cases[threadId.split('-')[0]!]!;

/** The same question has the same answer, whichever worker asks. The first question of `tot` needs a tool. */
function respond({ kind, prompt = '' }: ExternalCall): Answer {
  if (kind === 'tool') return { result: 'seen' };
  const depth = prompt.includes('<step>') ? 2 : 1;
  if (prompt.includes('Score each thought')) return { text: '{"scores": {"t1": 0.7, "t2": 0.6}}' };
  if (prompt.includes('Propose 2 distinct')) {
    const asked = prompt.includes('"role":"tool"') || depth === 2;
    return asked ? { text: `1. first ${depth}\n2. second ${depth}` } : { calls: [{ id: 'c0', name: 'look' }] };
  }
  if (prompt.includes('Judge the answer')) return { text: 'SCORE: 0.5' };
  return { text: `Answer: ${prompt.length % 7}` };
}

describe('a worker killed before or after each write, model call and tool of a strategy', () => {
  let harness: FaultHarness;
  const runs = new Map<string, RunHandle>();
  beforeAll(async () => {
    harness = await startHarness();
    harness.callServer.respond = respond;
  });
  afterAll(() => harness?.close());

  const enqueue = async (threadId: string) => {
    // ids of the same length, as an answer depends on the length of its prompt
    const { strategy, strategyOptions = {} } = caseOf(threadId);
    const request = { agent: 'fault', input: threadId, threadId, createThread: true, strategy };
    runs.set(threadId, await harness.runs.enqueue({ ...request, strategyOptions }));
  };
  const nodesOf = async (threadId: string) =>
    (await harness.runs.nodes(runs.get(threadId)!)).map(({ node, parent, kind, status, score, content, usage }) => ({
      node,
      parent,
      kind,
      status,
      score,
      content,
      usage,
    }));
  /** All that a crash must not change, as if the thread were the other one. */
  const outcomeOf = ({ threadId, status, terminationReason, result }: Run, nodes: unknown, as: string): unknown =>
    JSON.parse(
      JSON.stringify({ status, terminationReason, result, nodes })
        .replaceAll(threadId, as)
        .replace(/"duration_ms":\d+/g, '"duration_ms":0'),
    );
  const modelCalls = (threadId: string) =>
    harness.callServer.calls.filter((call) => call.kind === 'model' && call.threadId === threadId).length;

  test('the run ends as an undisturbed one, and repeats no call whose answer is stored', async () => {
    const undisturbed = await harness.spawnWorker({ name: 'control', worker, crashPoints: {} });
    const controls = Object.keys(cases).map((name) => `${name}-000`);
    await Promise.all(controls.map(enqueue));
    const expected = new Map<string, Run>();
    for (const control of controls) expected.set(control, await harness.runs.wait(runs.get(control)!));
    expect([...expected.values()].map(({ status }) => status)).toEqual(controls.map(() => 'completed'));
    await undisturbed.kill();

    const crashPoints: Record<string, string> = {};
    for (const [nth, control] of controls.entries()) {
      const points = pointsOf(undisturbed, control).filter(
        (point) => !caseOf(control).together || / (?:model|tool) /.test(point),
      );
      expect(points.length).toBeGreaterThan(5);
      for (const [i, point] of sampleOf(points, nth).entries())
        crashPoints[`${control.split('-')[0]}-${String(i + 1).padStart(3, '0')}`] = point;
    }
    const threads = Object.keys(crashPoints);
    await crashAt(harness, crashPoints, { worker, start: enqueue });

    const rescuer = await harness.startWorker(worker);
    for (const threadId of threads) {
      const control = `${threadId.split('-')[0]}-000`;
      const point = `${threadId}: ${crashPoints[threadId]}`;
      const run = await harness.runs.wait(runs.get(threadId)!);
      const own = outcomeOf(run, await nodesOf(threadId), control);
      expect(own, point).toEqual(outcomeOf(expected.get(control)!, await nodesOf(control), control));
      // at most those under way at the crash
      expect(modelCalls(threadId) - modelCalls(control), point).toBeLessThanOrEqual(2);
      // the only ones with tools and lanes of their own
      if (caseOf(threadId).strategy === 'tot') await expectSound(harness, threadId);
    }
    await rescuer.stop();
  });
});
