// @module-tag slow
import { defineAgent } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { bearer, mintKey, problem, startApi, type Api } from '../api/helpers.ts';
import { callCli } from '../cli/call-cli.ts';
import { noRedis, startLanefold } from '../support/lanefold.ts';
import { callsIn } from '../support/statements.ts';
import { until } from '../support/until.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { provider } from './provider.ts';

describe.skipIf(noRedis())('the circuit of a model', () => {
  const { state, model } = provider();
  const root = bearer('root');
  const statuses = [400, 404, 429, 401, 503];
  let api: Api;
  beforeAll(async () => {
    api = await startApi({
      worker: false,
      privateWebhooks: true,
      circuits: { minCalls: 3, openMs: 100, windowMs: 60_000 },
      models: { fake: () => model },
      aliases: { fast: 'fake:m' },
      agents: [
        defineAgent({ name: 'support', model: 'fast', maxModelRetries: 5 }),
        ...['asked', ...statuses].map((of) =>
          defineAgent({ name: `brisk-${of}`, model: `fake:${of}`, maxModelRetries: 0 }),
        ),
        defineAgent({ name: 'other', model: 'fake:n', maxModelRetries: 5 }),
      ],
      server: { apiKey: 'root' },
    });
    await api.lanefold.startWorker({ sweepMs: 100 });
  });
  afterAll(() => api?.close());
  beforeEach(async () => {
    Object.assign(state, { down: false, status: 529, headers: {} });
    for (const { model } of await circuits.list()) await circuits.close(model);
  });
  const circuits = {
    list: () => api.lanefold.circuits.list(),
    close: (model: string) => api.lanefold.circuits.close(model),
    of: async (model = 'fake:m') => (await api.lanefold.circuits.list()).find((one) => one.model === model),
  };
  const start = (agent = 'support') => api.lanefold.runs.enqueue({ agent, input: 'go' });
  const ask = async (agent?: string) => api.lanefold.runs.wait(await start(agent));
  const isWaiting = async (run: { threadId: string; id: string }) =>
    (await api.lanefold.runs.get(run)).limitedBy?.circuit === 'fake:m';
  /** A run that waits for the circuit. A worker may call the model before it hears that the circuit is open. */
  const heldRun = () =>
    until('a run waits', async () => {
      const run = await start();
      const isOver = async () => (await api.lanefold.runs.get(run)).finishedAt !== null;
      await until('it ends or waits', async () => (await isWaiting(run)) || (await isOver()));
      return (await isWaiting(run)) && run;
    });
  const call = (method: string, path: string, body?: unknown, auth = root) =>
    api.call(method, `/v1${path}`, body, auth);
  const run = (...args: string[]) => callCli(args, { env: { DATABASE_URL: api.lanefold.databaseUrl } });
  const audited = async () =>
    (
      await api.lanefold.database.pool.query<{ action: string; actor: string; detail: object }>(
        "select action, actor, detail from lanefold.audit where action like 'circuits.%' order by at",
      )
    ).rows;

  test('is opened and closed by hand, whatever its calls say, and the audit says by whom', async () => {
    await ask();
    const opened = await api.lanefold.circuits.open('fake:m', { reason: 'maintenance' }, { by: 'ann' });
    expect(opened).toMatchObject({ state: 'open', reason: 'maintenance', openedBy: 'ann', openUntil: null });
    const held = await heldRun();
    const calls = state.calls;
    // a second model has another circuit
    expect(await ask('other')).toMatchObject({ status: 'completed' });
    expect(state.calls).toBe(calls + 1);
    expect(await api.lanefold.circuits.close('fake:m', { by: 'bob' })).toMatchObject({
      state: 'closed',
      openedBy: null,
    });
    expect(await api.lanefold.runs.wait(held)).toMatchObject({ status: 'completed', limitedBy: null });
    expect((await audited()).slice(-2)).toEqual([
      { action: 'circuits.open', actor: 'ann', detail: { model: 'fake:m', reason: 'maintenance' } },
      { action: 'circuits.close', actor: 'bob', detail: { model: 'fake:m', state: 'open' } },
    ]);
  });

  test('that is opened and closed is one event each, for the endpoints of the operator alone', async () => {
    const receiver = await startReceiver();
    try {
      for (const tenant of ['default', 'acme'])
        await api.lanefold.webhooks.set('pager', { url: `${receiver.url}/${tenant}` }, { tenant });
      const told = () =>
        receiver
          .at('/default')
          .flatMap(({ event, headers }) =>
            event.type.startsWith('circuit.') ? [{ ...event, id: headers['webhook-id'] }] : [],
          );
      const turns = () => [...new Map(told().map((one) => [one.id, one.type])).values()];
      state.down = true;
      const runs = await Promise.all(Array.from({ length: 3 }, () => start()));
      await until('the circuit has opened', () => turns().length === 1);
      expect(told()[0]).toMatchObject({
        type: 'circuit.opened',
        data: { model: 'fake:m', reason: 'overloaded', since: expect.any(String) as string },
      });
      // it is open already: by hand, it is held back longer
      await api.lanefold.circuits.open('fake:m', { reason: 'maintenance' });
      state.down = false;
      await api.lanefold.circuits.close('fake:m');
      await Promise.all(runs.map((run) => api.lanefold.runs.wait(run)));
      await api.lanefold.circuits.open('fake:m', { reason: 'maintenance' });
      await until('three turns were told', () => turns().length === 3);
      expect(turns().sort()).toEqual(['circuit.closed', 'circuit.opened', 'circuit.opened']);
      expect(receiver.at('/acme').filter(({ event }) => event.type.startsWith('circuit.'))).toEqual([]);
    } finally {
      for (const tenant of ['default', 'acme']) await api.lanefold.webhooks.remove('pager', { tenant });
      await receiver.close();
    }
  });

  test('that is open by hand until a time is probed then', async () => {
    await api.lanefold.circuits.open('fake:m', { reason: 'a moment', until: new Date(Date.now() + 300) });
    // a worker may call the model before it hears of this
    await until('a call after that time has probed it', async () => {
      expect(await ask()).toMatchObject({ status: 'completed' });
      return (await circuits.of())?.state === 'closed';
    });
    await expect(
      api.lanefold.circuits.open('fake:m', { reason: 'over', until: new Date('2020-01-01') }),
    ).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await circuits.of()).toMatchObject({ state: 'closed' });
  });

  test.each([
    [400, 'closed', 0],
    [404, 'closed', 0],
    [429, 'closed', 0],
    [401, 'open', 3],
    [503, 'open', 3],
  ])('counts HTTP %i, and is %s after three', async (status, expected, failed) => {
    const model = `fake:${status}`;
    Object.assign(state, { down: true, status });
    for (let no = 0; no < 3; no++) await start(`brisk-${status}`);
    const settled = async () => {
      const { rows } = await api.lanefold.database.pool.query<{ n: number }>(
        `select count(*)::int as n from lanefold.run where status not in ('completed', 'failed') and limited_by is null`,
      );
      return rows[0]!.n === 0;
    };
    await until('its runs have ended or wait', settled);
    await until('they are counted', async () => status === 429 || ((await circuits.of(model))?.calls ?? 0) >= 3);
    // a run that waits may probe it already
    const seen = expected === 'open' ? (expect.stringMatching(/open/) as string) : expected;
    if (status !== 429) expect(await circuits.of(model)).toMatchObject({ state: seen, failed });
    else expect(await circuits.of(model)).toBeUndefined();
    state.down = false;
  });

  test('is open for as long as the provider asks', async () => {
    Object.assign(state, { down: true, status: 429, headers: { 'retry-after': '50' } });
    const runs = await Promise.all([start('brisk-asked'), start('brisk-asked'), start('brisk-asked')]);
    await until('it is open', async () => (await circuits.of('fake:asked'))?.state === 'open');
    const { openUntil, reason } = (await circuits.of('fake:asked'))!;
    expect(reason).toBe('rate_limited');
    expect(openUntil!.getTime() - Date.now()).toBeGreaterThan(40_000);
    state.down = false;
    await circuits.close('fake:asked');
    // those that failed before it opened have no retry
    for (const one of runs) expect(['completed', 'failed']).toContain((await api.lanefold.runs.wait(one)).status);
  });

  test('costs no statement of a run while it is closed', async () => {
    await ask();
    const counted: { name: string; about: string }[] = [];
    const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      counted.push(...callsIn(args[0]));
      return query.apply(this, args) as never;
    });
    const reported = () => counted.filter(({ name }) => name === 'report_circuits').length;
    const sweeps = async () => {
      const before = reported();
      await until('three sweeps', () => reported() >= before + 3);
    };
    await sweeps();
    const idle = counted.splice(0);
    await Promise.all(Array.from({ length: 30 }, () => ask()));
    await sweeps();
    vi.restoreAllMocks();
    const names = new Set(counted.filter(({ name }) => /circuit/.test(name)).map(({ name }) => name));
    // the sweep is all there is: it reports what was counted
    expect([...names]).toEqual(['report_circuits']);
    expect(idle.some(({ name }) => name === 'report_circuits')).toBe(true);
    const reports = counted.filter(({ name, about }) => name === 'report_circuits' && about.includes('fake:m'));
    expect(reports.length).toBeLessThan(30);
    expect(await circuits.of()).toMatchObject({ state: 'closed', failed: 0 });
    expect((await circuits.of())!.calls).toBeGreaterThanOrEqual(30);
  });

  test('is shown and changed over HTTP and on the command line, by operators alone', async () => {
    await ask();
    const { data } = (await call('GET', '/circuits')).body as { data: { model: string }[] };
    expect(data.map((one) => one.model)).toContain('fake:m');
    const opening = { reason: 'maintenance', until: '2999-01-01T00:00:00Z' };
    expect(await call('POST', '/circuits/fake%3Am/open', opening)).toMatchObject({
      status: 200,
      body: { model: 'fake:m', state: 'open', reason: 'maintenance', open_until: '2999-01-01T00:00:00.000Z' },
    });
    expect((await api.call('GET', '/metrics', undefined, root)).text).toContain(
      'lanefold_circuit_open{model="fake:m"} 1',
    );
    const { auth } = await mintKey(api.call, root, { scopes: ['admin', 'read'], tenant: 'acme' });
    for (const [method, path, body] of [
      ['GET', '/circuits', undefined],
      ['POST', '/circuits/fake%3Am/open', opening],
      ['POST', '/circuits/fake%3Am/close', undefined],
    ] as const)
      expect((await call(method, path, body, auth)).status).toBe(403);
    expect((await run('circuits')).stdout).toMatch(/fake:m +open until 2999-01-01T00:00:00.000Z, by operator/);
    expect((await run('circuits', 'close', 'fake:m')).stdout).toContain('fake:m is closed');
    expect((await run('circuits', 'open', 'fake:n', '--reason', 'why')).stdout).toContain('fake:n is open, by cli:');
    expect((await call('POST', '/circuits/fake%3An/close')).body).toMatchObject({ state: 'closed' });
    expect(await call('POST', '/circuits/fake%3Anone/close')).toMatchObject(problem(404, 'circuit_not_found'));
    expect((await call('POST', '/circuits/fake%3Am/open', {})).status).toBe(400);
    await expect(api.lanefold.forTenant('acme').circuits.open('fake:m', { reason: 'x' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });
});

test.skipIf(noRedis())('without circuits, workers count nothing and runs fail as ever', async () => {
  const { state, model } = provider();
  state.down = true;
  const lanefold = await startLanefold({
    circuits: false,
    models: { 'fake:m': model },
    agents: [defineAgent({ name: 'support', model: 'fake:m', maxModelRetries: 0 })],
  });
  await lanefold.startWorker({ sweepMs: 100 });
  const ends = await Promise.all(
    Array.from({ length: 12 }, async () =>
      lanefold.runs.wait(await lanefold.runs.enqueue({ agent: 'support', input: 'go' })),
    ),
  );
  expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(['failed']));
  expect(await lanefold.circuits.list()).toEqual([]);
  await lanefold.close();
});

test('its settings are checked before anything starts', async () => {
  for (const circuits of [{ share: 0 }, { share: 2 }, { minCalls: 0 }, { openMs: 1.5 }, { windowMS: 5 } as object])
    await expect(startLanefold({ circuits })).rejects.toMatchObject({ code: 'invalid_input' });
});
