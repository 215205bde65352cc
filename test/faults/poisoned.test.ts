// @module-tag long
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { contextOf, expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import { patient, startHarness, type WorkerProcess, type FaultHarness } from './harness.ts';

describe('a run that kills every worker', () => {
  let harness: FaultHarness;
  beforeEach(async () => {
    harness = await startHarness();
  });
  afterEach(() => harness?.close());

  // a committed step precedes the tool, so the first claim does make progress
  async function poisons(fatal: string, crashes: number, limit: { maxClaimsWithoutProgress?: number }): Promise<void> {
    const worker = { ...patient, ...limit };
    const children = new Map<string, WorkerProcess>();
    harness.callServer.respond = async ({ kind, worker: name }) => {
      if (name !== 'rescuer' && kind === fatal) {
        // it may call before it has said that it is ready
        await (await until('the process is known', () => children.get(name))).kill();
        return { error: 'too late' };
      }
      if (kind === 'model') return name === 'rescuer' ? { text: 'alive' } : { calls: [{ id: 'c0', name: 'look' }] };
      return { result: 'never seen' };
    };
    const run = await harness.runs.enqueue({ agent: 'fault', input: 'die' });
    const next = await harness.runs.enqueue({ agent: 'fault', input: 'live', threadId: run.threadId, busy: 'wait' });
    for (let crash = 1; crash <= crashes; crash += 1) {
      const child = await harness.spawnWorker({ name: `${crash}`, worker });
      children.set(`${crash}`, child);
      await child.waitForExit();
      await harness.expireLease(run.threadId);
    }
    expect(harness.callServer.count(fatal)).toBe(crashes);

    await harness.startWorker(worker);
    expect(await harness.runs.wait(run)).toMatchObject({
      status: 'failed',
      terminationReason: 'poisoned',
      error: { type: 'poisoned' },
    });
    expect(await harness.runs.wait(next)).toMatchObject({
      status: 'completed',
      result: 'alive',
    });
    const context = await contextOf(harness, run.threadId);
    if (fatal === 'tool') expect(JSON.parse(context[3]![1] as string)).toMatchObject({ error: { type: 'poisoned' } });
    expect(context.slice(-2).map(([, content]) => content)).toEqual(['live', 'alive']);
    await expectSound(harness, run.threadId);
  }

  const name = 'in its %s fails as poisoned after %i crashes and frees the thread';
  // a limit of 1 leaves room for one claim in company and one alone
  const limit = { maxClaimsWithoutProgress: 1 };
  test.each([
    ['model', 2],
    ['tool', 3],
  ])(name, (fatal, crashes) => poisons(fatal, crashes, limit));
  // four times beside other runs, if there were any, and five times alone
  test.each([['model', 9]])(name, { tags: 'long' }, (fatal, crashes) => poisons(fatal, crashes, {}));

  test('poisons none of those that share its workers', async () => {
    const limit = { ...patient, maxClaimsWithoutProgress: 2, stopGraceMs: 500 };
    const isKiller = (thread: number) => thread === 1;
    const children = new Map<string, WorkerProcess>();
    // the killer dies in its first model call as soon as its neighbours wait for theirs as well; alone, neighbours answer
    let waiting = new Map<string, number>();
    let together = 4;
    harness.callServer.respond = async ({ worker, userMessages }) => {
      if (worker === 'rescuer') return { text: 'alive' };
      waiting.set(worker, (waiting.get(worker) ?? 0) + 1);
      const own = await until('the process is known', () => children.get(worker));
      if (isKiller(userMessages!)) {
        await until('all of them run', () => waiting.get(worker)! >= together);
        await own.kill();
      } else if (together === 1) return { text: 'alive' };
      return own.waitForExit().then(() => ({ error: 'too late' }));
    };
    const threadIds = ['killer', 'a', 'b', 'c'];
    // the call server tells threads apart by the number of their user messages
    const runs = [];
    for (const [i, threadId] of threadIds.entries()) {
      await harness.threads.create({ id: threadId });
      for (let n = 0; n < i; n += 1)
        await harness.threads.append(threadId, [{ message: { role: 'user', content: 'before' } }]);
      runs.push(await harness.runs.enqueue({ agent: 'fault', input: 'go', threadId }));
    }
    // once in company, twice alone
    for (let crash = 1; crash <= 3; crash += 1) {
      waiting = new Map();
      together = crash < 2 ? 4 : 1;
      const child = await harness.spawnWorker({ name: `${crash}`, worker: limit });
      children.set(`${crash}`, child);
      await child.waitForExit();
      await Promise.all(threadIds.map((threadId) => harness.expireLease(threadId)));
      await harness.replaceJobs();
    }
    await harness.startWorker(limit);
    const ends = await Promise.all(runs.map((run) => harness.runs.wait(run)));
    expect(ends.map(({ status, terminationReason }) => [status, terminationReason])).toEqual([
      ['failed', 'poisoned'],
      ...Array.from({ length: 3 }, () => ['completed', 'final_answer']),
    ]);
    for (const threadId of threadIds) await expectSound(harness, threadId);
  });
});
