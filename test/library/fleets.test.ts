import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { noRedis, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { expectSound } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';

describe.skipIf(noRedis())('two fleets with separate queues on one database', () => {
  let one: TestLanefold;
  let other: Lanefold;
  let gate: ReturnType<typeof deferred<void>>;
  const answering = (text: string) => ({
    agents: [defineAgent({ name: 'a', model: 'fake' })],
    models: { fake: fakeModel(async () => gate.promise.then(() => ({ text }))) },
  });
  beforeAll(async () => {
    one = await startLanefold(answering('said by one'));
    other = await createLanefold({
      ...one.options,
      ...answering('said by the other'),
      databaseUrl: one.databaseUrl,
      queuePrefix: `${one.options.queuePrefix}o`,
    });
    await one.startWorker({ sweepMs: 100 });
    await other.startWorker({ sweepMs: 100 });
  });
  beforeEach(() => void (gate = deferred()));
  afterAll(async () => {
    await other?.close();
    await one?.close();
  });

  const enqueueOnBoth = async (threadId: string) => {
    const first = await one.runs.enqueue({ agent: 'a', input: 'first', threadId, createThread: true });
    await until('the first runs', async () => (await one.runs.get(first)).status === 'running');
    const second = await other.runs.enqueue({ agent: 'a', input: 'second', threadId, busy: 'wait' });
    return { first, second };
  };

  test('a run that waits behind the other fleet’s run is executed by its own fleet', async () => {
    const { first, second } = await enqueueOnBoth('ended');
    gate.resolve();
    expect(await one.runs.wait(first)).toMatchObject({ result: 'said by one' });
    expect(await one.runs.wait(second)).toMatchObject({ status: 'completed', result: 'said by the other' });
    await expectSound(one, 'ended');
  });

  test('each waiting run is executed by its own fleet after one fleet cancels the other’s active run', async () => {
    const { first, second } = await enqueueOnBoth('cancelled');
    const third = await one.runs.enqueue({ agent: 'a', input: 'third', threadId: 'cancelled', busy: 'wait' });
    await other.runs.cancel(first);
    gate.resolve();
    expect(await one.runs.wait(second)).toMatchObject({ status: 'completed', result: 'said by the other' });
    expect(await one.runs.wait(third)).toMatchObject({ status: 'completed', result: 'said by one' });
    await expectSound(one, 'cancelled');
  });
});
