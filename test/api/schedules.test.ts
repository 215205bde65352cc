import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { bearer, mintKey, problem, startApi, type Answer, type Api } from './helpers.ts';

describe('schedules over HTTP', () => {
  let api: Api;
  const root = bearer('root');
  const keys = {} as Record<'reader' | 'acme' | 'bolt', Record<string, string>>;
  beforeAll(async () => {
    const agents = [
      defineAgent({ name: 'reporter', model: 'scripted:echo', overridable: { http: ['maxIterations'] } }),
    ];
    api = await startApi({ worker: false, agents, server: { apiKey: 'root' } });
    const mint = async (fields: object) => (await mintKey(api.call, root, fields)).auth;
    keys.reader = await mint({ scopes: ['read'] });
    keys.acme = await mint({ scopes: ['admin', 'read'], tenant: 'acme' });
    keys.bolt = await mint({ scopes: ['admin', 'read'], tenant: 'bolt' });
  });
  afterAll(() => api?.close());

  const call = (auth: Record<string, string>, method: string, path: string, body?: unknown): Promise<Answer> =>
    api.call(method, `/v1/schedules${path}`, body, auth);
  const put = (name: string, body: unknown, auth = root) => call(auth, 'PUT', `/${name}`, body);
  const names = async (auth = root) =>
    ((await call(auth, 'GET', '')).body as { data: { name: string }[] }).data.map(({ name }) => name);
  const nightly = { agent: 'reporter', input: 'Report of {{date}}', cron: '0 2 * * *', time_zone: 'Europe/Berlin' };

  test('are set, listed with their next slots, paused, resumed and removed', async () => {
    const more = {
      start_at: '2099-01-01T00:00:00.000Z',
      end_at: '2099-01-04T00:00:00.000Z',
      thread_id: 'diary',
      overlap: 'queue',
      catch_up: 'all',
      jitter_ms: 1_000,
      options: { max_iterations: 3 },
    };
    const answer = {
      ...nightly,
      ...more,
      name: 'nightly',
      tenant: 'default',
      paused_at: null,
      source: 'user',
      version: 1,
      next: ['2099-01-01T01:00:00.000Z', '2099-01-02T01:00:00.000Z', '2099-01-03T01:00:00.000Z'],
      created_at: expect.stringMatching(/Z$/) as string,
      updated_at: expect.stringMatching(/Z$/) as string,
      updated_by: 'operator',
    };
    expect(await put('nightly', { ...nightly, ...more })).toMatchObject({ status: 200, body: answer });
    expect((await call(root, 'GET', '')).body).toEqual({ data: [answer], next_after: null });
    const paused = await call(root, 'POST', '/nightly/pause');
    expect(paused.body).toMatchObject({ paused_at: expect.stringMatching(/Z$/) as string, next: [], version: 2 });
    expect((await call(root, 'GET', '/nightly')).body).toEqual(paused.body);
    expect((await call(root, 'POST', '/nightly/resume')).body).toMatchObject({ ...answer, version: 3 });
    expect((await call(root, 'GET', '/nightly/slots?limit=5')).body).toEqual({ data: [], next_after: null });
    expect((await call(root, 'DELETE', '/nightly')).status).toBe(204);
    for (const [method, path] of [
      ['GET', '/nightly'],
      ['DELETE', '/nightly'],
      ['POST', '/nightly/pause'],
      ['POST', '/nightly/resume'],
    ] as const)
      expect(await call(root, method, path)).toMatchObject(problem(404, 'schedule_not_found'));
  });

  test.each<[string, object]>([
    ['cron', { ...nightly, cron: 'soon' }],
    ['cron', { ...nightly, cron: undefined }],
    ['cron', { ...nightly, cron: '0 0 30 2 *' }],
    ['every_ms', { ...nightly, every_ms: 5_000 }],
    ['every_ms', { agent: 'reporter', input: 'x', every_ms: 1 }],
    ['time_zone', { ...nightly, time_zone: 'Mars/Base' }],
    ['end_at', { ...nightly, end_at: '2020-01-01T00:00:00Z' }],
    ['overlap', { ...nightly, overlap: 'dance' }],
    ['input', { ...nightly, input: 'Report of {{day}}' }],
    ['colour', { ...nightly, colour: 'red' }],
  ])('that make no sense are refused with the field: %s of %j', async (field, body) => {
    expect(await put('wrong', body)).toMatchObject({
      ...problem(400, 'invalid_request'),
      body: { errors: [{ path: field, message: expect.stringMatching(/\w/) as string }] },
    });
    expect(await names()).toEqual([]);
  });

  test('may only override what a request over HTTP may', async () => {
    const refused = await put('wrong', { ...nightly, options: { model: 'scripted:other' } });
    expect(refused).toMatchObject(problem(403, 'override_not_allowed'));
    expect(await put('wrong', { ...nightly, agent: 'nobody' })).toMatchObject(problem(422, 'unknown_agent'));
    expect(await put('n'.repeat(91), nightly)).toMatchObject(problem(400, 'invalid_id'));
  });

  test('need the scope admin to be changed, and belong to the tenant of the key', async () => {
    expect(await put('nightly', nightly, keys.reader)).toMatchObject(problem(403, 'forbidden'));
    expect(await put('nightly', nightly, keys.acme)).toMatchObject({ status: 200, body: { tenant: 'acme' } });
    expect(await put('nightly', nightly, keys.bolt)).toMatchObject({ status: 200, body: { tenant: 'bolt' } });
    expect(await call(keys.bolt, 'DELETE', '/nightly?tenant=acme')).toMatchObject({ status: 400 });
    expect((await call(keys.bolt, 'DELETE', '/nightly')).status).toBe(204);
    expect(await names(keys.bolt)).toEqual([]);
    expect([await names(keys.acme), await names(keys.reader)]).toEqual([['nightly'], ['nightly']]);
    expect((await call(root, 'DELETE', '/nightly?tenant=acme')).status).toBe(204);
    const entries = (await api.lanefold.audit.list({ tenantId: 'acme' })).filter(
      ({ action }) => action !== 'keys.create',
    );
    expect(entries.map(({ action }) => action).toSorted()).toEqual(['schedules.remove', 'schedules.set']);
  });
});
