// @module-tag slow
import { createLanefold, defineAgent, type EnqueueOptions, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';
import { sqlOf } from './sql.ts';

describe('a run that has to wait for a slot', () => {
  let lanefold: TestLanefold;
  /** Another process, without a worker. */
  let client: Lanefold;
  let model: TypedModel;
  let sql: Awaited<ReturnType<typeof sqlOf>>;
  beforeAll(async () => {
    model = typedModel();
    const agents = [defineAgent({ name: 'typist', model: 'typed:m' })];
    lanefold = await startLanefold({ agents, models: { typed: () => model } });
    client = await createLanefold(lanefold.options);
    sql = await sqlOf(lanefold);
    await lanefold.startWorker({ concurrency: 8 });
  });
  afterAll(async () => {
    await client?.close();
    await sql?.close();
    await lanefold?.close();
  });
  const request = (customer: string, more: Partial<EnqueueOptions> = {}): EnqueueOptions => ({
    agent: 'typist',
    input: 'go',
    limitKeys: { customer },
    ...more,
  });
  const answer = async () => {
    const keyboard = await model.next();
    keyboard.type('done');
    keyboard.stop();
  };
  /** What the next call was asked. */
  const answered = async () => {
    const keyboard = await model.next();
    const [part] = keyboard.call.prompt.at(-1)!.content as { text: string }[];
    keyboard.type('done');
    keyboard.stop();
    return part!.text;
  };

  test.each(['the process of its worker', 'another process'])(
    'waits in line from %s, and no worker takes it',
    async (from) => {
      const name = from === 'another process' ? 'far' : 'near';
      const { runs, limits } = from === 'another process' ? client : lanefold;
      await limits.set(name, { kind: 'concurrency', amount: 1, scope: { customer: name } });
      const first = await runs.enqueue(request(name));
      const keyboard = await model.next();
      // where a worker is free, the run starts with the request, and asks then
      const second = await runs.enqueue(request(name));
      await until('it waits', async () => (await lanefold.runs.get(second)).limitedBy !== null);
      const third = await runs.enqueue(request(name));
      expect(await lanefold.runs.get(third)).toMatchObject({
        status: 'queued',
        startedAt: null,
        limitedBy: { limit: name },
      });
      expect(await sql.usage(name)).toMatchObject([{ used: 1, waiting: 2 }]);
      keyboard.stop();
      await lanefold.runs.wait(first);
      await answer();
      await answer();
      expect(await lanefold.runs.wait(third)).toMatchObject({ status: 'completed', limitedBy: null });
      await sql.settled();
      expect(await sql.usage(name)).toMatchObject([{ used: 0, waiting: 0 }]);
    },
  );

  test('expires there, is cancelled there, and gives back what it has', async () => {
    await client.limits.set('given', { kind: 'concurrency', amount: 1, scope: { customer: 'given' } });
    const first = await client.runs.enqueue(request('given'));
    const keyboard = await model.next();
    const expiring = await client.runs.enqueue(request('given', { ttlMs: 1 }));
    const cancelled = await client.runs.enqueue(request('given'));
    expect(await client.runs.cancel(cancelled)).toMatchObject({ accepted: true });
    expect(await client.runs.wait(expiring)).toMatchObject({ status: 'failed', error: { type: 'expired' } });
    keyboard.stop();
    await client.runs.wait(first);
    await sql.settled();
    expect(await sql.usage('given')).toMatchObject([{ used: 0, waiting: 0 }]);
  });

  test('delays no run of another customer: those take turns', async () => {
    await client.limits.set('turns', { kind: 'concurrency', amount: 1, scope: { plan: 'turns' }, shareBy: 'customer' });
    const of = (customer: string, input: string) =>
      request(customer, { input, limitKeys: { plan: 'turns', customer } });
    const settled = await client.runs.enqueueMany(Array.from({ length: 12 }, (_, n) => of('large', `large ${n}`)));
    const small = await client.runs.enqueue(of('small', 'small'));
    // one of the large customer works, and one may continue before it is the small one's turn
    const order = [await answered(), await answered(), await answered()];
    expect(order).toContain('small');
    expect(await lanefold.runs.wait(small)).toMatchObject({ status: 'completed' });
    for (const _ of settled.slice(2)) await answered();
    for (const one of settled)
      if (one.status === 'fulfilled')
        expect(await lanefold.runs.wait(one.value)).toMatchObject({ status: 'completed' });
    await sql.settled();
  });

  test('passes those that wait if something is reserved for it', async () => {
    await client.limits.set('kept', {
      kind: 'concurrency',
      amount: 2,
      scope: { plan: 'kept' },
      shareBy: 'class',
      reserve: { interactive: 1 },
    });
    const of = (kind: string) => request('c', { input: kind, limitKeys: { plan: 'kept', class: kind } });
    const batch = await client.runs.enqueue(of('batch'));
    const working = await model.next();
    const waiting = await client.runs.enqueue(of('batch'));
    expect((await lanefold.runs.get(waiting)).limitedBy).toMatchObject({ limit: 'kept' });
    const chat = await client.runs.enqueue(of('interactive'));
    expect(await answered()).toBe('interactive');
    await lanefold.runs.wait(chat);
    // its slot returned, and is still not for the others
    await until('its slot has returned', async () => (await sql.usage('kept'))[0]?.used === 1);
    expect((await lanefold.runs.get(waiting)).limitedBy).toMatchObject({ limit: 'kept' });
    working.stop();
    await lanefold.runs.wait(batch);
    await answer();
    expect(await lanefold.runs.wait(waiting)).toMatchObject({ status: 'completed' });
  });

  test('continues if its limit is removed', async () => {
    await client.limits.set('closed', { kind: 'concurrency', amount: 1, scope: { customer: 'closed' } });
    await client.runs.enqueue(request('closed'));
    const keyboard = await model.next();
    const run = await client.runs.enqueue(request('closed'));
    expect((await lanefold.runs.get(run)).limitedBy).toMatchObject({ limit: 'closed' });
    await client.limits.remove('closed');
    await answer();
    keyboard.stop();
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
  });
});

describe('a run that no limit would ever let pass', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    lanefold = await startLanefold({
      agents: [defineAgent({ name: 'echo', model: 'scripted:echo', settings: { maxOutputTokens: 1_000 } })],
      priceOf: ({ model, outputTokens }) => (model === 'scripted:echo' ? outputTokens / 1_000 : undefined),
    });
  });
  afterAll(() => lanefold?.close());
  const ask = (more: Partial<EnqueueOptions> = {}) =>
    lanefold.runs.enqueue({ agent: 'echo', input: 'go', limitKeys: { customer: 'acme' }, ...more });

  test('is refused with what it needs, before anything is written', async () => {
    await lanefold.limits.set('small', {
      kind: 'tokens',
      tokens: 'output',
      per: 'minute',
      amount: 2_000,
      shareBy: 'class',
      reserve: { chat: 1_500 },
    });
    await expect(ask()).rejects.toMatchObject({
      code: 'limit_too_small',
      message: expect.stringMatching(/needs 1000 of the limit small, which is 500/),
    });
    expect((await lanefold.threads.list()).data).toEqual([]);
    const [many] = await lanefold.runs.enqueueMany([{ agent: 'echo', input: 'go' }]);
    expect(many).toMatchObject({ status: 'rejected', reason: { code: 'limit_too_small' } });
    await ask({ settings: { maxOutputTokens: 400 } });
    await ask({ limitKeys: { class: 'chat' } });
    await lanefold.limits.remove('small');
  });

  test('is refused for money by its price, and if that is unknown', async () => {
    await lanefold.limits.set('purse', { kind: 'money', amount: 0.5, calendar: 'month' });
    await expect(ask()).rejects.toMatchObject({ code: 'limit_too_small' });
    await ask({ settings: { maxOutputTokens: 400 } });
    await expect(ask({ model: 'scripted:["hi"]' })).rejects.toMatchObject({ code: 'price_unknown' });
    await lanefold.limits.remove('purse');
  });
});

describe('a run that no worker has taken', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
  });
  afterAll(() => lanefold?.close());

  test('leaves its slot to the interrupt that ends it', async () => {
    await lanefold.limits.set('one', { kind: 'concurrency', amount: 1 });
    const ask = (input: string, busy?: 'wait' | 'interrupt') =>
      lanefold.runs.enqueue({ agent: 'echo', threadId: 't', createThread: true, input, ...(busy && { busy }) });
    const ended = [await ask('first'), await ask('second', 'interrupt')];
    await ask('in line', 'wait');
    const last = await ask('third', 'interrupt');
    for (const run of ended) expect(await lanefold.runs.get(run)).toMatchObject({ status: 'cancelled' });
    await lanefold.startWorker();
    expect(await lanefold.runs.wait(last)).toMatchObject({ status: 'completed' });
  });
});
