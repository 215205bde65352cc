// @module-tag slow
import { defineAgent, type EnqueueOptions, type RunHandle } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { expectSound } from '../support/log.ts';
import { sqlOf } from './sql.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';

describe('a run that a limit refuses', () => {
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

  test('waits without a worker, says for what, and continues when another run ends', async () => {
    await sql.setLimit('slots', { kind: 'concurrency', scope: { account: '*' }, amount: 1 });
    const first = await ask({ limitKeys: { account: 'acme' } });
    const keyboard = await model.next();
    const second = await ask({ limitKeys: { account: 'acme' } });
    await until('the second run waits', async () => (await lanefold.runs.get(second)).limitedBy !== null);
    expect(await lanefold.runs.get(second)).toMatchObject({
      status: 'queued',
      limitedBy: { limit: 'slots', key: 'acme' },
    });
    // another customer has a slot of its own
    const other = await ask({ limitKeys: { account: 'bolt' } });
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
    expect(await lanefold.runs.wait(second)).toMatchObject({ status: 'completed', result: 'two', limitedBy: null });
    await expectSound(lanefold, second.threadId);
    await sql.settled();
    expect(await sql.usage('slots')).toMatchObject([
      { key: 'acme', used: 0, reserved: 0, waiting: 0 },
      { key: 'bolt', used: 0, reserved: 0, waiting: 0 },
    ]);
  });

  /** Answers the next call of the model. */
  const answer = async (text: string) => {
    const keyboard = await model.next();
    keyboard.type(text);
    keyboard.stop();
  };
  const waiting = (run: RunHandle) =>
    until('the run waits', async () => (await lanefold.runs.get(run)).limitedBy ?? undefined);

  test('continues when its tokens are free again, and keeps its place and its steps', async () => {
    await sql.setLimit('spurt', {
      kind: 'tokens',
      tokens: 'output',
      scope: { burst: '*' },
      amount: 15,
      per_ms: 1_000,
    });
    const limitKeys = { burst: 'spurt' };
    const runs = await Promise.all(
      Array.from({ length: 4 }, () => lanefold.runs.enqueue({ agent: 'echo', input: 'hello', limitKeys })),
    );
    for (const run of runs)
      expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'hello', error: null });
    await sql.settled();
    const kinds = (await lanefold.runs.events(runs[3]!)).map(({ kind }) => kind);
    expect(kinds).not.toContain('llm_lost');
    const usages = await Promise.all(runs.map(async (run) => (await lanefold.runs.get(run)).usage!.output_tokens));
    expect(await sql.usage('spurt')).toMatchObject([{ total: usages.reduce((sum, tokens) => sum + tokens, 0) }]);
    for (const run of runs) await expectSound(lanefold, run.threadId);
  });

  test('continues when the limit is raised, or removed', async () => {
    const limitKeys = { customer: 'few' };
    await sql.setLimit('few', { kind: 'requests', scope: { customer: 'few' }, amount: 1, per_ms: 86_400_000 });
    const first = await ask({ limitKeys });
    await answer('one');
    expect(await lanefold.runs.wait(first)).toMatchObject({ result: 'one' });
    const [second, third] = [await ask({ limitKeys }), await ask({ limitKeys })];
    expect(await waiting(second)).toMatchObject({ limit: 'few', until: expect.any(String) });
    await waiting(third);
    await sql.setLimit('few', { kind: 'requests', scope: { customer: 'few' }, amount: 2, per_ms: 86_400_000 });
    await answer('two');
    expect(await lanefold.runs.wait(second)).toMatchObject({ result: 'two' });
    expect((await lanefold.runs.get(third)).limitedBy).toMatchObject({ limit: 'few' });
    await sql.rows("select lanefold.remove_limit('*', 'few', 'test')");
    await answer('three');
    expect(await lanefold.runs.wait(third)).toMatchObject({ result: 'three' });
  });

  test('can be cancelled, and leaves the line', async () => {
    await sql.setLimit('one', { kind: 'concurrency', scope: { customer: 'one' }, amount: 1 });
    const limitKeys = { customer: 'one' };
    const first = await ask({ limitKeys });
    const keyboard = await model.next();
    const [second, third] = [await ask({ limitKeys }), await ask({ limitKeys })];
    await waiting(second);
    await waiting(third);
    expect(await lanefold.runs.cancel(second)).toMatchObject({ accepted: true });
    expect(await lanefold.runs.wait(second)).toMatchObject({ status: 'cancelled' });
    keyboard.type('one');
    keyboard.stop();
    await lanefold.runs.wait(first);
    await answer('three');
    expect(await lanefold.runs.wait(third)).toMatchObject({ result: 'three' });
    await sql.settled();
    expect(await sql.usage('one')).toMatchObject([{ used: 0, waiting: 0 }]);
  });

  test('is woken by the sweep if its process died before it was in line', async () => {
    await sql.setLimit('lost', { kind: 'concurrency', scope: { customer: 'lost' }, amount: 1 });
    const limitKeys = { customer: 'lost' };
    const first = await ask({ limitKeys });
    const keyboard = await model.next();
    const second = await ask({ limitKeys });
    await until('the second run is in line', async () => (await sql.usage('lost'))[0]?.waiting === 1);
    // as if the process had died in between, long ago
    await sql.rows('delete from lanefold._limit_account where run_id = $1', [second.id]);
    await sql.rows('delete from lanefold._limit_wait where run_id = $1', [second.id]);
    await sql.rows("update lanefold._limit_bucket set lined = 0, waiting = 0 where name = 'lost'");
    await sql.rows(
      `update lanefold._run set limited_by = limited_by || '{"since": "2020-01-01T00:00:00Z"}' where id = $1`,
      [second.id],
    );
    await until('the second run is in line again', async () => (await sql.usage('lost'))[0]?.waiting === 1);
    keyboard.type('one');
    keyboard.stop();
    await answer('two');
    expect(await lanefold.runs.wait(second)).toMatchObject({ result: 'two' });
    expect(await lanefold.runs.get(first)).toMatchObject({ result: 'one' });
  });

  test('that ended while nobody could settle it is settled by the sweep', async () => {
    await sql.setLimit('late', { kind: 'tokens', scope: { customer: 'late' }, amount: 10_000, calendar: 'month' });
    const run = await ask({ limitKeys: { customer: 'late' } });
    await answer('done');
    const { usage } = await lanefold.runs.wait(run);
    await sql.settled();
    const place = '* late ';
    // as if its worker had died after the last commit
    await sql.rows(
      'update lanefold._limit_bucket set total = 0, used = 500, reserved = 500, ring = array[500] where name = $1',
      ['late'],
    );
    await sql.rows(
      `insert into lanefold._limit_account (thread_id, run_id, holds, touched_at) values ($1, $2, $3, now() - interval '1 hour')`,
      [run.threadId, run.id, JSON.stringify({ [place]: [500, Math.floor(Date.now() / 1_000), 0] })],
    );
    await sql.settled();
    expect(await sql.usage('late')).toMatchObject([{ total: usage!.total_tokens, reserved: 0 }]);
  });

  test('ends with budget_exhausted if its limit says so', async () => {
    await sql.setLimit('purse', {
      kind: 'requests',
      scope: { customer: 'purse' },
      amount: 1,
      calendar: 'month',
      on_exhausted: 'end',
    });
    const limitKeys = { customer: 'purse' };
    const first = await ask({ limitKeys });
    await answer('one');
    await lanefold.runs.wait(first);
    const second = await ask({ limitKeys });
    expect(await lanefold.runs.wait(second)).toMatchObject({
      status: 'completed',
      terminationReason: 'budget_exhausted',
      result: null,
      error: null,
    });
    expect(await reachedBy(second)).toEqual([{ limit: 'purse', ends: true }]);
  });

  /** What the trace says of limits that the run has reached. */
  const reachedBy = async (run: RunHandle) =>
    (await lanefold.runs.events(run)).filter(({ kind }) => kind === 'limit_reached').map(({ data }) => data);

  test('continues where its limit only gives notice: once per interval, and again after it was changed', async () => {
    const soft = { kind: 'requests', scope: { customer: '*' }, calendar: 'month', on_exhausted: 'notice' };
    await sql.setLimit('soft', { ...soft, amount: 1 });
    const one = async () => {
      const run = await ask({ limitKeys: { customer: 'soft' } });
      await answer('on');
      expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'on' });
      return reachedBy(run);
    };
    expect([await one(), await one(), await one()]).toEqual([[], [{ limit: 'soft', key: 'soft' }], []]);
    await sql.setLimit('soft', { ...soft, amount: 2 });
    expect(await one()).toEqual([{ limit: 'soft', key: 'soft' }]);
    const [use] = await lanefold.limits.usage({ name: 'soft' });
    expect(use).toMatchObject({ used: 4, amount: 2, noticedAt: expect.any(Date) as Date });
  });

  // 663 tokens passed a limit of 100 where calls were counted once they had ended (BerriAI/litellm#18730)
  test('at once with seven others does not exceed what one of them may use', async () => {
    await sql.setLimit('burst', { kind: 'tokens', scope: { customer: 'burst' }, amount: 50, calendar: 'month' });
    const small = { settings: { maxOutputTokens: 20 }, limitKeys: { customer: 'burst' } };
    const runs = await Promise.all(Array.from({ length: 8 }, () => ask(small)));
    const keyboard = await model.next();
    await until('the others wait', async () => (await sql.usage('burst'))[0]!.waiting === 7);
    keyboard.type('one');
    keyboard.stop();
    await until('it is settled', async () => (await sql.usage('burst'))[0]!.total === 15);
    // 15 were used, so one more may reserve; nobody else
    const next = await model.next();
    await until('the others wait still', async () => (await sql.usage('burst'))[0]!.waiting === 6);
    expect((await sql.usage('burst'))[0]!.used).toBeLessThanOrEqual(50);
    next.stop();
    await sql.rows('select lanefold.remove_limit($1, $2, $3)', ['*', 'burst', 'test']);
    for (let n = 2; n < runs.length; n++) await answer('later');
    for (const run of runs) expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
  });

  test.each([
    ['limit_too_small', { kind: 'requests', amount: 0, per_ms: 86_400_000 }],
    ['price_unknown', { kind: 'money', amount: 1_000_000_000, calendar: 'day' }],
  ])('ends with %s if a limit was set since it was accepted', async (type, limit) => {
    const customer = type;
    await lanefold.limits.set(`${customer}-slot`, { kind: 'concurrency', scope: { customer }, amount: 1 });
    const first = await ask({ limitKeys: { customer } });
    const keyboard = await model.next();
    const second = await ask({ limitKeys: { customer } });
    await waiting(second);
    await sql.setLimit(customer, { ...limit, scope: { customer } });
    keyboard.stop();
    await lanefold.runs.wait(first);
    expect(await lanefold.runs.wait(second)).toMatchObject({ status: 'failed', error: { type } });
  });

  test('takes turns with runs of others by weight, whoever came first, and its own go by priority', async () => {
    await sql.setLimit('fair', {
      kind: 'concurrency',
      scope: { plan: 'fair' },
      amount: 1,
      share_by: 'customer',
      shares: { large: 1, small: 1, paying: 2 },
    });
    const one = (customer: string, input: string, priority?: number) =>
      ask({ input, limitKeys: { plan: 'fair', customer }, ...(priority === undefined ? {} : { priority }) });
    const blocker = await one('other', 'block');
    const blocking = await model.next();
    const runs: RunHandle[] = [];
    const line = async (customer: string, input: string, priority?: number) => {
      const run = await one(customer, input, priority);
      await waiting(run);
      runs.push(run);
    };
    for (const n of [1, 2, 3, 4]) await line('large', `large ${n}`, 5);
    await line('large', 'large, urgent', 1);
    for (const n of [1, 2]) await line('small', `small ${n}`);
    for (const n of [1, 2, 3, 4]) await line('paying', `paying ${n}`);
    blocking.type('done');
    blocking.stop();
    await lanefold.runs.wait(blocker);
    const order: string[] = [];
    for (const _ of runs) {
      const keyboard = await model.next();
      const [part] = keyboard.call.prompt.at(-1)!.content as { text: string }[];
      order.push(part!.text);
      keyboard.type('done');
      keyboard.stop();
    }
    const turns = [
      'paying 1',
      'large, urgent',
      'small 1',
      'paying 2',
      'paying 3',
      'large 1',
      'small 2',
      'paying 4',
      'large 2',
      'large 3',
      'large 4',
    ];
    expect(order).toEqual(turns);
  });
});
