import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { noRedis } from '../support/lanefold.ts';
import { contextOf, expectSound } from '../support/log.ts';
import { patient, startBench, type Child, type FaultBench } from './harness.ts';

describe.skipIf(noRedis())('a run that kills every worker', () => {
  let bench: FaultBench;
  beforeEach(async () => {
    bench = await startBench();
  });
  afterEach(() => bench?.close());

  // A tool is reached by a committed step, so its first death counts for nothing yet.
  test.each([
    ['model', 5, {}],
    ['tool', 2, { maxClaimsWithoutProgress: 1 }],
  ])('by its %s fails as poisoned after %i deaths, and frees the thread', async (deadly, deaths, limit) => {
    const names = Array.from({ length: deaths }, (_, i) => `${i}`);
    const worker = { ...patient, ...limit };
    const spawned = await Promise.all(names.map((name) => bench.child({ name, worker })));
    const children = new Map<string, Child>(names.map((name, i) => [name, spawned[i]!]));
    bench.outside.respond = ({ kind, worker: visitor }) => {
      const victim = children.get(visitor);
      if (victim && kind === deadly) return victim.kill().then(() => ({ error: 'too late' }));
      if (kind === 'model') return victim ? { calls: [{ id: 'c0', name: 'look' }] } : { text: 'alive' };
      return { result: 'never seen' };
    };
    const run = await bench.runs.enqueue({ agent: 'fault', input: 'die' });
    const next = await bench.runs.enqueue({ agent: 'fault', input: 'live', threadId: run.threadId, busy: 'wait' });
    await Promise.all(spawned.map((child) => child.died().then(() => bench.runOut(run.threadId))));
    expect(bench.outside.count(deadly)).toBe(deaths);

    await bench.startWorker(worker);
    expect(await bench.runs.wait(run, { timeoutMs: 30_000 })).toMatchObject({
      status: 'failed',
      terminationReason: 'poisoned',
      error: { type: 'poisoned' },
    });
    expect(await bench.runs.wait(next, { timeoutMs: 30_000 })).toMatchObject({ status: 'completed', result: 'alive' });
    const context = await contextOf(bench, run.threadId);
    if (deadly === 'tool') expect(JSON.parse(context[3]![1] as string)).toMatchObject({ error: { type: 'poisoned' } });
    expect(context.slice(-2).map(([, content]) => content)).toEqual(['live', 'alive']);
    await expectSound(bench, run.threadId);
  });
});
