import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { noRedis } from '../support/lanefold.ts';
import { contextOf, expectSound } from '../support/log.ts';
import { patient, startHarness, type WorkerProcess, type FaultHarness } from './harness.ts';

describe.skipIf(noRedis())('a run that kills every worker', () => {
  let harness: FaultHarness;
  beforeEach(async () => {
    harness = await startHarness();
  });
  afterEach(() => harness?.close());

  // a committed step precedes the tool, so the first claim does make progress
  test.each([
    ['model', 5, {}],
    ['tool', 2, { maxClaimsWithoutProgress: 1 }],
  ])('in its %s fails as poisoned after %i crashes and frees the thread', async (fatal, crashes, limit) => {
    const names = Array.from({ length: crashes }, (_, i) => `${i}`);
    const worker = { ...patient, ...limit };
    const spawned = await Promise.all(names.map((name) => harness.spawnWorker({ name, worker })));
    const children = new Map<string, WorkerProcess>(names.map((name, i) => [name, spawned[i]!]));
    harness.callServer.respond = ({ kind, worker: workerName }) => {
      const target = children.get(workerName);
      if (target && kind === fatal) return target.kill().then(() => ({ error: 'too late' }));
      if (kind === 'model') return target ? { calls: [{ id: 'c0', name: 'look' }] } : { text: 'alive' };
      return { result: 'never seen' };
    };
    const run = await harness.runs.enqueue({ agent: 'fault', input: 'die' });
    const next = await harness.runs.enqueue({ agent: 'fault', input: 'live', threadId: run.threadId, busy: 'wait' });
    await Promise.all(spawned.map((child) => child.waitForExit().then(() => harness.expireLease(run.threadId))));
    expect(harness.callServer.count(fatal)).toBe(crashes);

    await harness.startWorker(worker);
    expect(await harness.runs.wait(run, { timeoutMs: 30_000 })).toMatchObject({
      status: 'failed',
      terminationReason: 'poisoned',
      error: { type: 'poisoned' },
    });
    expect(await harness.runs.wait(next, { timeoutMs: 30_000 })).toMatchObject({
      status: 'completed',
      result: 'alive',
    });
    const context = await contextOf(harness, run.threadId);
    if (fatal === 'tool') expect(JSON.parse(context[3]![1] as string)).toMatchObject({ error: { type: 'poisoned' } });
    expect(context.slice(-2).map(([, content]) => content)).toEqual(['live', 'alive']);
    await expectSound(harness, run.threadId);
  });
});
