// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { bearer, mintKey, problem, startApi, type Answer, type Api } from './helpers.ts';

describe('webhooks over HTTP', () => {
  let api: Api;
  const root = bearer('root');
  const keys = {} as Record<'reader' | 'acme' | 'bolt', Record<string, string>>;
  beforeAll(async () => {
    api = await startApi({ worker: false, server: { apiKey: 'root' } });
    const mint = async (fields: object) => (await mintKey(api.call, root, fields)).auth;
    keys.reader = await mint({ scopes: ['read'] });
    keys.acme = await mint({ scopes: ['admin', 'read'], tenant: 'acme' });
    keys.bolt = await mint({ scopes: ['admin', 'read'], tenant: 'bolt' });
  });
  afterAll(() => api?.close());

  const call = (auth: Record<string, string>, method: string, path: string, body?: unknown): Promise<Answer> =>
    api.call(method, `/v1/webhooks${path}`, body, auth);
  const put = (name: string, body: unknown, auth = root) => call(auth, 'PUT', `/${name}`, body);
  const endpoint = { url: 'https://1.1.1.1/hooks', types: ['run.completed', 'run.failed'] };

  test('are set, listed, rotated, tested, paused, resumed, redelivered and removed', async () => {
    const more = { agents: ['clerk'], ordered: true, include_result: true };
    const answer = {
      ...endpoint,
      ...more,
      name: 'orders',
      tenant: 'default',
      template: null,
      paused_at: null,
      paused_reason: null,
      version: 1,
      failures: 0,
      failing_since: null,
      dropped: 0,
      updated_by: 'operator',
      created_at: expect.stringMatching(/Z$/) as string,
      updated_at: expect.stringMatching(/Z$/) as string,
    };
    const { status, body } = await put('orders', { ...endpoint, ...more });
    const { secret, ...shown } = body as { secret: string };
    expect([status, shown]).toEqual([200, answer]);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect((await put('orders', { ...endpoint, ...more })).body).toEqual(answer);
    expect((await call(root, 'GET', '')).body).toEqual({ data: [answer] });
    const rotated = (await call(root, 'POST', '/orders/rotate', { keep_ms: 1_000 })).body as { secret: string };
    expect(rotated.secret).not.toBe(secret);
    const paused = await call(root, 'POST', '/orders/pause');
    expect(paused.body).toMatchObject({ paused_at: expect.any(String) as string, paused_reason: 'manual', version: 3 });
    expect((await call(root, 'GET', '/orders')).body).toEqual(paused.body);
    const { body: tested } = await call(root, 'POST', '/orders/test');
    const { id } = tested as { id: string };
    const deliveries = await call(root, 'GET', '/orders/deliveries?status=pending&limit=5');
    expect(deliveries.body).toMatchObject({
      data: [{ id, type: 'webhook.test', status: 'pending', attempts: 0, payload: { data: { webhook: 'orders' } } }],
    });
    expect((await call(root, 'POST', '/orders/redeliver', { id })).body).toEqual({ redelivered: 0 });
    expect((await call(root, 'POST', '/orders/redeliver', { since: '2026-11-01T00:00:00Z' })).body).toEqual({
      redelivered: 0,
    });
    expect((await call(root, 'POST', '/orders/resume')).body).toMatchObject({ ...answer, version: 4 });
    expect((await call(root, 'DELETE', '/orders')).status).toBe(204);
    for (const [method, path, given] of [
      ['GET', '/orders', undefined],
      ['DELETE', '/orders', undefined],
      ['GET', '/orders/deliveries', undefined],
      ['POST', '/orders/rotate', {}],
      ['POST', '/orders/test', undefined],
      ['POST', '/orders/pause', undefined],
      ['POST', '/orders/resume', undefined],
      ['POST', '/orders/redeliver', { id: 'x' }],
    ] as const)
      expect(await call(root, method, path, given)).toMatchObject(problem(404, 'webhook_not_found'));
  });

  test.each<[string, object]>([
    ['url', { url: 'http://1.1.1.1/' }],
    ['url', { url: 'nowhere' }],
    ['url', { url: 'https://127.0.0.1/' }],
    ['url', { url: 'https://[::ffff:10.0.0.1]/' }],
    ['url', { url: 'https://169.254.169.254/latest/meta-data' }],
    ['url', { url: 'https://user:secret@1.1.1.1/' }],
    ['url', { url: 'https://localhost/' }],
    ['url', { url: 'https://nobody.invalid/' }],
    ['types[0]', { ...endpoint, types: ['run.ended'] }],
    ['agents', { ...endpoint, agents: 'clerk' }],
    ['secret', { ...endpoint, secret: 'whsec_x' }],
  ])('with an invalid %s are refused, and nothing is written', async (field, body) => {
    const answer = await put('bad', body);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(field === 'secret' ? 'secret' : `"path":"${field}"`);
    expect(await call(root, 'GET', '/bad')).toMatchObject(problem(404, 'webhook_not_found'));
  });

  test('need a delivery or a time for a redelivery', async () => {
    await put('again-and-again', endpoint);
    for (const body of [{}, { id: 'msg_x', since: '2026-11-01T00:00:00Z' }, { since: 'soon' }])
      expect((await call(root, 'POST', '/again-and-again/redeliver', body)).status).toBe(400);
    expect(await call(root, 'POST', '/again-and-again/redeliver', { id: 'msg_x' })).toMatchObject(
      problem(404, 'delivery_not_found'),
    );
    await call(root, 'DELETE', '/again-and-again');
  });

  test('are those of the tenant of the key, and changed only by admins', async () => {
    await put('own', endpoint, keys.acme);
    expect((await call(keys.acme, 'GET', '/own')).body).toMatchObject({ tenant: 'acme' });
    expect(await call(keys.bolt, 'GET', '/own')).toMatchObject(problem(404, 'webhook_not_found'));
    expect((await call(keys.bolt, 'GET', '')).body).toEqual({ data: [] });
    expect(await put('mine', endpoint, keys.reader)).toMatchObject(problem(403, 'forbidden'));
    expect((await call(keys.reader, 'GET', '')).status).toBe(200);
    await call(keys.acme, 'DELETE', '/own');
  });

  test('are audited without their secrets, which no view shows', async () => {
    const { body } = await put('audited', endpoint, keys.acme);
    const { secret } = (await call(keys.acme, 'POST', '/audited/rotate', {})).body as { secret: string };
    const secrets = [(body as { secret: string }).secret, secret];
    const { rows: audit } = await api.lanefold.database.pool.query<{ action: string; actor: string }>(
      "select action, actor, detail from lanefold.audit where detail ->> 'name' = 'audited' order by at",
    );
    expect(audit).toMatchObject([
      {
        action: 'webhooks.set',
        actor: expect.stringMatching(/^key:/) as string,
        detail: { new: { origin: 'https://1.1.1.1', types: endpoint.types } },
      },
      { action: 'webhooks.rotate', detail: { keep_ms: 86_400_000 } },
    ]);
    const { rows: views } = await api.lanefold.database.pool.query<{ text: string }>(
      `select to_jsonb(w)::text as text from lanefold.webhook w union all select to_jsonb(a)::text from lanefold.audit a`,
    );
    const seen = JSON.stringify([views, (await call(root, 'GET', '')).body]);
    for (const one of secrets) expect(seen).not.toContain(one);
  });

  // they are all https://1.1.1.1/s3cret to those that read URLs as browsers do
  test.each([
    'https:\\\\1.1.1.1\\s3cret//x',
    'https://1.1.1.1\\s3cret',
    'https:/1.1.1.1/s3cret//x',
    'https:1.1.1.1/s3cret',
    ' https://1.1.1.1/s3cret',
    'ht\ttps://1.1.1.1/s3cret',
    'HTTPS://1.1.1.1:443/s3cret',
    'https://0x1.1.1.1?s3cret',
  ])('are stored as they were read, so that readers see the origin of %j alone', async (url) => {
    const { pool } = api.lanefold.database;
    await call(keys.acme, 'DELETE', '/spelt');
    const given = await put('spelt', { url }, keys.acme);
    expect(given.body).toMatchObject({ url: new URL(url).href });
    const seen = async (table: string, column: string) =>
      (await pool.query<{ seen: string }>(`select ${column} as seen from lanefold.${table} order by 1`)).rows;
    expect(await seen("webhook where name = 'spelt'", 'url')).toEqual([{ seen: 'https://1.1.1.1' }]);
    const rows = await seen("audit where detail ->> 'name' = 'spelt'", 'detail::text');
    expect(JSON.stringify(rows)).not.toContain('s3cret');
  });

  test('set with SQL show no more of a URL than its origin either', async () => {
    const { pool } = api.lanefold.database;
    for (const [url, origin] of [
      ['https://1.1.1.1:8443/s3cret', 'https://1.1.1.1:8443'],
      ...['https://1.1.1.1\\s3cret', 'https:\\\\1.1.1.1\\s3cret//x', 'https://s3cret@1.1.1.1/'].map((one) => [
        one,
        null,
      ]),
      ...['https://s3cret:s3cret@1.1.1.1', 'https:1.1.1.1/s3cret//x', 's3cret//'].map((one) => [one, null]),
    ]) {
      const p = { url, types: [], agents: [], ordered: false, include_result: false, by: 'sql' };
      await pool.query("select lanefold.set_webhook('acme', 'by-sql', 'webhook_by_sql', $1)", [p]);
      const { rows } = await pool.query("select url from lanefold.webhook where name = 'by-sql'");
      expect(rows).toEqual([{ url: origin }]);
    }
    const { rows } = await pool.query("select from lanefold.audit where detail::text like '%by-sql%s3cret%'");
    expect(rows).toEqual([]);
  });

  test('are at most 50 of a tenant', async () => {
    for (let i = 0; i < 50; i++) expect((await put(`many-${i}`, endpoint, keys.bolt)).status).toBe(200);
    expect((await put('one-more', endpoint, keys.bolt)).status).toBe(400);
    expect(((await call(keys.bolt, 'GET', '')).body as { data: unknown[] }).data).toHaveLength(50);
  });
});
