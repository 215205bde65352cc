// @module-tag slow
import type { Run, RunHandle } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { contextOf, entriesOf, expectSound } from '../support/log.ts';
import type { Answer, ExternalCall } from './fixtures/call-server.ts';
import { crashAt, pointsOf, sampleOf } from './crash-points.ts';
import { patient, startHarness, type FaultHarness } from './harness.ts';

const worker = { ...patient, concurrency: 50 };
const long = 'seen '.repeat(200);

/** `hand`: a compaction that somebody asked for. `rung`: a run over budget, which compacts its lane between rounds. */
function respond({ kind, prompt = '' }: ExternalCall): Answer {
  if (kind === 'tool') return { result: long };
  if (prompt.includes('Summarise the conversation')) return { text: 'They looked.', usage: [100, 3] };
  if (prompt.includes('They looked.')) return { text: 'done' };
  return { calls: [{ id: prompt.includes('"toolCallId":"c0"') ? 'c1' : 'c0', name: 'look' }] };
}

describe('a worker killed before or after each write and model call of a compaction', () => {
  let harness: FaultHarness;
  const runs = new Map<string, RunHandle<unknown>>();
  beforeAll(async () => {
    harness = await startHarness();
    harness.callServer.respond = respond;
  });
  afterAll(() => harness?.close());

  async function start(threadId: string): Promise<void> {
    if (threadId.startsWith('rung')) {
      const contextPolicy = {
        maxInputTokens: 600,
        reserveOutputTokens: 0,
        keepLastTurns: 0,
        tokenEstimator: 'heuristic',
      };
      const policy = { contextPolicy: { ...contextPolicy, summarization: 'request_new' as const } };
      runs.set(
        threadId,
        await harness.runs.enqueue({ agent: 'fault', input: threadId, threadId, createThread: true, ...policy }),
      );
      return;
    }
    await harness.threads.create({ id: threadId });
    await harness.threads.append(threadId, [
      { message: { role: 'user', content: threadId } },
      { message: { role: 'assistant', content: long } },
      { message: { role: 'user', content: 'And now?' } },
      { message: { role: 'assistant', content: 'That.' } },
    ]);
    runs.set(threadId, await harness.contexts.compact(threadId, { agent: 'fault' }));
  }
  /** All that a crash must not change, as if the thread were the other one. */
  async function outcomeOf({ threadId, status, result, usage }: Run, as: string): Promise<unknown> {
    const entries = (await entriesOf(harness, threadId)).map(({ seq, kind, role }) => [seq, kind, role]);
    return JSON.parse(
      JSON.stringify({ status, result, usage, entries, context: await contextOf(harness, threadId) })
        .replaceAll(threadId, as)
        .replaceAll(/run_[0-9a-z]{26}/g, 'run'),
    );
  }
  const modelCalls = (threadId: string) =>
    harness.callServer.calls.filter((call) => call.kind === 'model' && call.threadId === threadId).length;

  test('the lane ends with one summary, as if nothing had died', async () => {
    const controls = ['hand-000', 'rung-000'];
    const undisturbed = await harness.spawnWorker({ name: 'control', worker, crashPoints: {} });
    await Promise.all(controls.map(start));
    const expected = new Map<string, unknown>();
    for (const control of controls) {
      const run = (await harness.runs.wait(runs.get(control)!)) as Run;
      expect(run.status).toBe('completed');
      expect(JSON.stringify(await contextOf(harness, control))).toContain('They looked.');
      expected.set(control, await outcomeOf(run, control));
    }
    await undisturbed.kill();

    const crashPoints: Record<string, string> = {};
    for (const [nth, control] of controls.entries()) {
      const points = pointsOf(undisturbed, control);
      expect(points.length).toBeGreaterThan(5);
      for (const [i, point] of sampleOf(points, nth).entries())
        crashPoints[`${control.split('-')[0]}-${String(i + 1).padStart(3, '0')}`] = point;
    }
    const threads = Object.keys(crashPoints);
    await crashAt(harness, crashPoints, { worker, start });

    const rescuer = await harness.startWorker(worker);
    for (const threadId of threads) {
      const control = `${threadId.split('-')[0]}-000`;
      const point = `${threadId}: ${crashPoints[threadId]}`;
      const run = (await harness.runs.wait(runs.get(threadId)!)) as Run;
      expect(await outcomeOf(run, control), point).toEqual(expected.get(control));
      expect(modelCalls(threadId) - modelCalls(control), point).toBeLessThanOrEqual(1);
      await expectSound(harness, threadId);
    }
    await rescuer.stop();
  });
});
