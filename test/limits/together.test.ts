// @module-tag slow
import { createLanefold, defineAgent, type EnqueueOptions, type Lanefold, type RunHandle } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';
import { sqlOf } from './sql.ts';

describe('limits on the same runs', () => {
  let lanefold: TestLanefold;
  let model: TypedModel;
  let sql: Awaited<ReturnType<typeof sqlOf>>;
  const others: Lanefold[] = [];
  const echo = defineAgent({ name: 'echo', model: 'scripted:echo', settings: { maxOutputTokens: 10 } });
  beforeAll(async () => {
    model = typedModel();
    const agents = [echo, defineAgent({ name: 'typist', model: 'typed:m' })];
    lanefold = await startLanefold({ agents, models: { typed: () => model } });
    sql = await sqlOf(lanefold);
    await lanefold.startWorker({ concurrency: 8 });
  });
  afterAll(async () => {
    await sql?.close();
    for (const other of others) await other.close();
    await lanefold?.close();
  });

  const ask = (customer: string, more: Partial<EnqueueOptions> = {}) =>
    lanefold.runs.enqueue({ agent: 'echo', input: 'go', limitKeys: { customer }, ...more });
  const many = (customer: string, count: number) => Promise.all(Array.from({ length: count }, () => ask(customer)));
  const waiting = (run: RunHandle) =>
    until('the run waits', async () => (await lanefold.runs.get(run)).limitedBy ?? undefined);
  const completes = async (runs: RunHandle[]) => {
    for (const run of runs) expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'go' });
  };
  /** Resolves once this many model calls were counted by a limit, and all others wait for it. */
  const counted = (name: string, calls: number, others: number) =>
    until(`${calls} calls were counted by ${name}`, async () => {
      const [usage] = await sql.usage(name);
      return usage?.total === calls && usage.waiting === others;
    });

  test('that stopped more runs than a look finds all resume them once one is raised and the other removed', async () => {
    const customer = 'stopped';
    const requests = (name: string, amount: number) =>
      sql.setLimit(name, { kind: 'requests', scope: { customer }, amount, per_ms: 86_400_000 });
    await requests('a', 1);
    await requests('b', 1_000);
    const first = await many(customer, 60);
    await counted('a', 1, 59);
    await requests('b', 1);
    const second = await many(customer, 60);
    await until('all others wait', async () => (await sql.usage('a'))[0]!.waiting === 119);
    await requests('a', 1_000);
    await sql.rows("select lanefold.remove_limit('*', 'b', 'test')");
    await completes([...first, ...second]);
    await sql.settled();
    expect(await sql.rows('select from lanefold._limit_wait')).toEqual([]);
  });

  test('count exactly what several workers let pass, in each interval', async () => {
    for (let n = 0; n < 2; n++) {
      const other = await createLanefold(lanefold.options);
      others.push(other);
      await other.startWorker({ concurrency: 4 });
    }
    await sql.setLimit('slots', { kind: 'concurrency', scope: { customer: 'exact' }, amount: 3 });
    await sql.setLimit('calls', { kind: 'requests', scope: { customer: 'exact' }, amount: 10, calendar: 'month' });
    await sql.setLimit('tokens', { kind: 'tokens', scope: { customer: 'exact' }, amount: 25, calendar: 'month' });
    const runs = await many('exact', 30);
    const calls = async () =>
      (await Promise.all(runs.map((run) => lanefold.runs.get(run)))).filter(({ usage }) => usage !== null).length;
    const stopped = async (name: string) => {
      const [usage] = await sql.usage(name);
      return usage!.reserved === 0 && usage!.waiting > 0;
    };
    await until('tokens stop the line', () => stopped('tokens'));
    const before = await calls();
    await sql.setLimit('tokens', { kind: 'tokens', scope: { customer: 'exact' }, amount: 100_000, calendar: 'month' });
    await until('calls stop the line', async () => (await stopped('calls')) && (await calls()) === 10);
    expect(before).toBeLessThan(10);
    expect(await sql.usage('calls')).toMatchObject([{ used: 10, total: 10 }]);
    await sql.setLimit('calls', { kind: 'requests', scope: { customer: 'exact' }, amount: 1_000, calendar: 'month' });
    await completes(runs);
    await sql.settled();
    expect(await sql.usage('calls')).toMatchObject([{ used: 30, total: 30, waiting: 0 }]);
    expect(await sql.usage('slots')).toMatchObject([{ used: 0, reserved: 0, waiting: 0 }]);
  });

  test.each([{ calendar: 'month' }, { per_ms: 86_400_000 }])(
    'do not keep a run beyond its time: %o',
    async (interval) => {
      const customer = Object.keys(interval)[0]!;
      await sql.setLimit(`time-${customer}`, { kind: 'requests', scope: { customer }, amount: 1, ...interval });
      await completes([await ask(customer)]);
      const run = await ask(customer, { maxDurationMs: 1_500 });
      expect(await waiting(run)).toMatchObject({ limit: `time-${customer}` });
      expect(await lanefold.runs.wait(run)).toMatchObject({ terminationReason: 'max_duration' });
      await sql.settled();
      expect(await sql.usage(`time-${customer}`)).toMatchObject([{ used: 1, waiting: 0 }]);
    },
  );

  test('give no slot to a run that no live worker can execute', async () => {
    await sql.setLimit('pair', { kind: 'concurrency', scope: { customer: 'pair' }, amount: 2 });
    const client = await createLanefold({
      ...lanefold.options,
      agents: [...lanefold.options.agents!, defineAgent({ name: 'later', model: 'scripted:echo' })],
    });
    others.push(client);
    const early = await Promise.all(
      [1, 2, 3].map(() => client.runs.enqueue({ agent: 'later', input: 'go', limitKeys: { customer: 'pair' } })),
    );
    await completes(await many('pair', 4));
    for (const run of early) expect(await client.runs.get(run)).toMatchObject({ status: 'queued' });
    const unattended = await until(
      'it is said',
      async () => (await client.runs.get(early[0]!)).unattended ?? undefined,
    );
    expect(unattended).toMatchObject({ reason: 'unknown_agent' });
    const worker = await client.startWorker();
    await completes(early);
    await worker.stop();
  });

  test('get the slots back of runs whose worker has stopped, and of those it had not taken yet', async () => {
    await sql.setLimit('back', { kind: 'concurrency', scope: { customer: 'back' }, amount: 2 });
    const brief = await createLanefold({
      ...lanefold.options,
      agents: [...lanefold.options.agents!, defineAgent({ name: 'brief', model: 'typed:m' })],
    });
    others.push(brief);
    const worker = await brief.startWorker({ concurrency: 1 });
    const start = () => brief.runs.enqueue({ agent: 'brief', input: 'go', limitKeys: { customer: 'back' } });
    const held = await start();
    await model.next();
    const queued = await start();
    await until('both have a slot', async () => (await sql.usage('back'))[0]?.used === 2);
    await worker.stop({ graceMs: 0 });
    await completes(await many('back', 3));
    const again = await brief.startWorker();
    for (let n = 0; n < 2; n++) {
      const keyboard = await model.next();
      keyboard.type('done');
      keyboard.stop();
    }
    for (const run of [held, queued]) expect(await brief.runs.wait(run)).toMatchObject({ status: 'completed' });
    await again.stop();
    await sql.settled();
    expect(await sql.usage('back')).toMatchObject([{ used: 0, reserved: 0, waiting: 0 }]);
  });
});
