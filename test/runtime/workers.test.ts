import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis } from '../support/lanefold.ts';
import { contextOf, expectSound } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';
import { startRuntime, unset, type Runtime } from './helpers.ts';

describe.skipIf(noRedis())('workers of one process', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset })]);
  });
  afterAll(() => lanefold?.close());

  test('stop each for itself', async () => {
    const second = await lanefold.startWorker();
    expect(second.id).not.toBe(lanefold.worker.id);
    await second.stop();
    const { run } = await lanefold.run({ agent: 'a', input: 'still there?' });
    expect(run).toMatchObject({ status: 'completed', result: 'still there?' });
  });

  test('end what they have begun before they stop, and begin nothing after', async () => {
    const gate = deferred();
    const slow = lanefold.model(async () => gate.promise.then(() => ({ text: 'ended' })));
    const begun = await lanefold.runs.enqueue({ agent: 'a', model: slow.id, input: 'hi' });
    await until('it runs', () => lanefold.worker.active === 1);
    const stopped = lanefold.worker.stop();
    gate.resolve();
    await stopped;
    expect(await lanefold.runs.get(begun)).toMatchObject({ status: 'completed', result: 'ended' });
    const late = await lanefold.runs.enqueue({ agent: 'a', input: 'late' });
    expect(await lanefold.runs.get(late)).toMatchObject({ status: 'queued' });
    expect(await contextOf(lanefold, late.threadId)).toEqual([]);

    await lanefold.startWorker();
    expect(await lanefold.runs.wait(late)).toMatchObject({ status: 'completed' });
    await expectSound(lanefold, begun.threadId);
  });
});
