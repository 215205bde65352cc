import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { bearer, mintKey, problem, startApi, type Answer, type Api } from './helpers.ts';

describe('limits over HTTP', () => {
  let api: Api;
  const root = bearer('root');
  const keys = {} as Record<'reader' | 'runner' | 'acme' | 'acmeReader' | 'bolt' | 'bound', Record<string, string>>;
  let adminOfAcme: string;
  beforeAll(async () => {
    api = await startApi({ worker: false, server: { apiKey: 'root' } });
    const mint = async (fields: object) => mintKey(api.call, root, fields);
    keys.reader = (await mint({ scopes: ['read'] })).auth;
    keys.runner = (await mint({ scopes: ['run', 'steer', 'approve'] })).auth;
    keys.bound = (await mint({ scopes: ['admin', 'read'], agents: ['calc'] })).auth;
    keys.acmeReader = (await mint({ scopes: ['read'], tenant: 'acme' })).auth;
    keys.bolt = (await mint({ scopes: ['admin', 'read'], tenant: 'bolt' })).auth;
    const admin = await mint({ scopes: ['admin', 'read'], tenant: 'acme' });
    keys.acme = admin.auth;
    adminOfAcme = admin.id;
  });
  afterAll(() => api?.close());

  const call = (auth: Record<string, string>, method: string, path: string, body?: unknown): Promise<Answer> =>
    api.call(method, path, body, auth);
  const put = (name: string, body: unknown, auth = root) => call(auth, 'PUT', `/v1/limits/${name}`, body);
  const list = async (auth = root, query = '') =>
    ((await call(auth, 'GET', `/v1/limits${query}`)).body as { data: Record<string, unknown>[] }).data;
  const tokens = { kind: 'tokens', amount: 100, per: 'minute' };

  test('are set, listed with what was used, replaced and removed', async () => {
    const budget = {
      kind: 'money',
      amount: 0.25,
      scope: { customer: '*' },
      amounts: { acme: 1.5 },
      share_by: 'agent',
      shares: { calc: 3 },
      reserve: { calc: 0.1 },
      calendar: 'month',
      time_zone: 'Europe/Berlin',
      on_exhausted: 'end',
    };
    const { status, body } = await put('budget', budget);
    const history = {
      name: 'budget',
      tenant: null,
      updated_by: 'operator',
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    };
    expect([status, body]).toEqual([200, { ...history, ...budget }]);
    const { rows } = await api.lanefold.database.pool.query<{ version: number }>(
      'select max(version)::int as version from lanefold._limit',
    );
    const { version } = rows[0]!;
    await api.lanefold.database.pool.query('select lanefold.use_limits($1)', [
      JSON.stringify([{ version, thread_id: 't', run_id: 'r', take: [['* budget acme', 1_000_000_000]] }]),
    ]);
    const used = {
      key: 'acme',
      amount: 1.5,
      used: 1,
      reserved: 1,
      waiting: 0,
      total: 0,
      resets_at: expect.stringMatching(/T2[23]:00:00.000Z$/),
      noticed_at: null,
      drained_until: null,
      slices: null,
      waiting_by: null,
      cursor: '*/budget/true/acme',
    };
    expect(await list()).toEqual([{ ...history, ...budget, usage: [used], next_after: null }]);

    expect(await put('budget', { ...budget, amount: 3, amounts: undefined })).toMatchObject({ status: 200 });
    expect(await list(root, '?name=budget&limit=1')).toMatchObject([{ amount: 3, usage: [{ ...used, amount: 3 }] }]);
    expect(await list(root, '?name=nothing')).toEqual([]);
    expect((await call(root, 'DELETE', '/v1/limits/budget')).status).toBe(204);
    expect(await list()).toEqual([]);
    expect(await call(root, 'DELETE', '/v1/limits/budget')).toMatchObject(problem(404, 'limit_not_found'));
  });

  test.each<[string, object]>([
    ['kind', { ...tokens, kind: 'cats' }],
    ['amount', { ...tokens, amount: -1 }],
    ['amount', { ...tokens, amount: 1.5 }],
    ['per', { ...tokens, per: 'fortnight' }],
    ['per', { ...tokens, per: undefined }],
    ['per', { ...tokens, kind: 'concurrency' }],
    ['calendar', { ...tokens, calendar: 'day' }],
    ['time_zone', { kind: 'runs', amount: 1, calendar: 'day', time_zone: 'Mars/Base' }],
    ['scope', { ...tokens, scope: { Customer: '*' } }],
    ['scope.customer', { ...tokens, scope: { customer: 'a/b' } }],
    ['amounts', { ...tokens, amounts: { acme: 1 } }],
    ['shares', { ...tokens, shares: { acme: 1 } }],
    ['on_exhausted', { ...tokens, on_exhausted: 'cry' }],
    ['colour', { ...tokens, colour: 'red' }],
  ])('that make no sense are refused with the field: %s of %j', async (field, body) => {
    expect(await put('wrong', body)).toMatchObject({
      ...problem(400, 'invalid_request'),
      body: { errors: [{ path: field, message: expect.stringMatching(/\w/) }] },
    });
    expect(await list(root, '?name=wrong')).toEqual([]);
  });

  test('have a valid name, and the kind that they had', async () => {
    expect(await put('a%20b', tokens)).toMatchObject(problem(400, 'invalid_id'));
    expect((await put('kept', tokens)).status).toBe(200);
    expect(await put('kept', { kind: 'concurrency', amount: 1 })).toMatchObject({
      ...problem(400, 'invalid_request'),
      body: { errors: [{ path: 'kind' }] },
    });
    await call(root, 'DELETE', '/v1/limits/kept');
  });

  test('are for a key that may: to set them it needs admin, to read them read, and no bounds but a tenant', async () => {
    for (const auth of [keys.reader, keys.runner, keys.acmeReader, keys.bound]) {
      expect(await put('mine', tokens, auth)).toMatchObject(problem(403, 'forbidden'));
      expect(await call(auth, 'DELETE', '/v1/limits/mine')).toMatchObject(problem(403, 'forbidden'));
    }
    for (const auth of [keys.runner, keys.bound])
      expect(await call(auth, 'GET', '/v1/limits')).toMatchObject(problem(403, 'forbidden'));
    for (const auth of [keys.reader, keys.acmeReader]) expect(await list(auth)).toEqual([]);
  });

  test('of a tenant are those of no other', async () => {
    await put('shared', tokens);
    expect(await put('mine', tokens, keys.acme)).toMatchObject({ status: 200, body: { tenant: 'acme' } });
    expect(await put('mine?tenant=bolt', { ...tokens, amount: 7 })).toMatchObject({ body: { tenant: 'bolt' } });
    const of = async (auth: Record<string, string>) =>
      (await list(auth)).map(({ tenant, name, amount }) => [tenant, name, amount]);
    expect(await of(keys.acme)).toEqual([['acme', 'mine', 100]]);
    expect(await of(keys.acmeReader)).toEqual([['acme', 'mine', 100]]);
    expect(await of(keys.bolt)).toEqual([['bolt', 'mine', 7]]);
    expect(await of(keys.reader)).toEqual([
      [null, 'shared', 100],
      ['acme', 'mine', 100],
      ['bolt', 'mine', 7],
    ]);
    expect(await put('mine?tenant=bolt', tokens, keys.acme)).toMatchObject(problem(400, 'invalid_input'));
    expect(await put('mine', { ...tokens, scope: { tenant: 'bolt' } }, keys.acme)).toMatchObject({
      ...problem(400, 'invalid_request'),
      body: { errors: [{ path: 'scope.tenant' }] },
    });
    for (const name of ['shared', 'mine?tenant=bolt'])
      expect((await call(keys.acme, 'DELETE', `/v1/limits/${name}`)).status).toBeGreaterThanOrEqual(400);
    expect((await call(keys.acme, 'DELETE', '/v1/limits/mine')).status).toBe(204);
    expect(await of(keys.bolt)).toEqual([['bolt', 'mine', 7]]);
    const audit = (await call(keys.acme, 'GET', '/v1/audit')).body as { data: Record<string, unknown>[] };
    expect(audit.data.filter(({ action }) => String(action).startsWith('limits.'))).toMatchObject([
      { action: 'limits.set', actor: `key:${adminOfAcme}`, tenant_id: 'acme', detail: { name: 'mine' } },
      { action: 'limits.remove', actor: `key:${adminOfAcme}`, tenant_id: 'acme' },
    ]);
  });
});
