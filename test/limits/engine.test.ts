import { defineAgent, type EnqueueOptions } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { expectSound } from '../support/log.ts';
import { sqlOf } from './sql.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';

describe.skipIf(noRedis())('a run that a limit refuses', () => {
  let lanefold: TestLanefold;
  let model: TypedModel;
  let sql: Awaited<ReturnType<typeof sqlOf>>;
  beforeAll(async () => {
    model = typedModel();
    const agents = [
      defineAgent({ name: 'typist', model: 'typed:m' }),
      defineAgent({ name: 'echo', model: 'scripted:echo', settings: { maxOutputTokens: 10 } }),
    ];
    lanefold = await startLanefold({ agents, models: { typed: () => model } });
    sql = await sqlOf(lanefold);
    await lanefold.startWorker({ concurrency: 8 });
  });
  afterAll(async () => {
    await sql?.close();
    await lanefold?.close();
  });
  const ask = (more: Partial<EnqueueOptions> = {}) => lanefold.runs.enqueue({ agent: 'typist', input: 'go', ...more });

  test('waits without a worker, says for what, and goes on when another run ends', async () => {
    await sql.setLimit('slots', { kind: 'concurrency', scope: { customer: '*' }, amount: 1 });
    const first = await ask({ limitKeys: { customer: 'acme' } });
    const keyboard = await model.next();
    const second = await ask({ limitKeys: { customer: 'acme' } });
    await until('the second run waits', async () => (await lanefold.runs.get(second)).waitingFor !== null);
    expect(await lanefold.runs.get(second)).toMatchObject({ status: 'queued', waitingFor: { limit: 'slots', key: 'acme' } });
    // another customer has a slot of its own
    const other = await ask({ limitKeys: { customer: 'bolt' } });
    const others = await model.next();
    others.type('for bolt');
    others.stop();
    expect(await lanefold.runs.wait(other)).toMatchObject({ result: 'for bolt' });
    keyboard.type('one');
    keyboard.stop();
    expect(await lanefold.runs.wait(first)).toMatchObject({ result: 'one' });
    const next = await model.next();
    next.type('two');
    next.stop();
    expect(await lanefold.runs.wait(second)).toMatchObject({ status: 'completed', result: 'two', waitingFor: null });
    await expectSound(lanefold, second.threadId);
    await sql.settled();
    expect(await sql.usage('slots')).toMatchObject([
      { key: 'acme', used: 0, reserved: 0, waiting: 0 },
      { key: 'bolt', used: 0, reserved: 0, waiting: 0 },
    ]);
  });
});
