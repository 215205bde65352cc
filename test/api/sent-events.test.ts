// @module-tag slow
import { defineAgent, defineTool, waitFor, type Lanefold, type RunHandle } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { signEvent } from '../../src/base/tokens/token.ts';

import { ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { bearer, mintKey, problem, startApi, type Api } from './helpers.ts';

const awaitEvent = defineTool({
  name: 'await_event',
  input: z.object({ event: z.string() }),
  execute: ({ event }) => waitFor(event),
});

describe('events over HTTP', () => {
  let api: Api;
  const root = bearer('root');
  const keys = {} as Record<'steer' | 'reader' | 'acme' | 'bolt', Awaited<ReturnType<typeof mintKey>>>;
  beforeAll(async () => {
    const agents = [defineAgent({ name: 'a', model: 'scripted:echo', tools: [awaitEvent] })];
    api = await startApi({ agents, tokenSecrets: ['new secret', 'old secret'], server: { apiKey: 'root' } });
    const mint = (fields: object) => mintKey(api.call, root, fields);
    keys.steer = await mint({ scopes: ['steer'] });
    keys.reader = await mint({ scopes: ['read'] });
    keys.acme = await mint({ scopes: ['steer'], tenant: 'acme' });
    keys.bolt = await mint({ scopes: ['steer'], tenant: 'bolt' });
  });
  afterAll(() => api?.close());

  const send = (event: string, body?: unknown, auth = root) => api.call('POST', `/v1/events/${event}`, body, auth);
  const pathOf = async (event: string, body: object = {}, auth = root) => {
    const answer = await api.call('POST', `/v1/events/${event}/tokens`, body, auth);
    const { token, path } = answer.body as { token: string; path: string };
    expect([answer.status, path]).toEqual([200, `/signed/events/${token}`]);
    return path;
  };
  const enqueue = (event: string, { runs }: Pick<Lanefold, 'runs'> = api.lanefold) => {
    const model = `scripted:${JSON.stringify([{ tool: 'await_event', args: { event } }, 'done'])}`;
    return runs.enqueue({ agent: 'a', input: 'go', model });
  };
  async function waiting(event: string, lanefold: Pick<Lanefold, 'runs'> = api.lanefold): Promise<RunHandle> {
    const run = await enqueue(event, lanefold);
    await until('the call waits', async () => (await lanefold.runs.get(run)).status === 'suspended');
    return run;
  }
  const resultOf = async (run: RunHandle) => {
    await api.lanefold.runs.wait(run);
    return (await ledgerOf(api.lanefold, run.threadId, run.id)).map(({ result }) => result);
  };
  const sender = async (run: RunHandle) => {
    const text = 'select status, ended_by from lanefold.run_wait where run_id = $1';
    return (await api.lanefold.database.pool.query(text, [run.id])).rows as object[];
  };

  test('reach the calls that wait, or are kept for those that will', async () => {
    const run = await waiting('now');
    const resolved = [{ thread_id: run.threadId, run_id: run.id, call: '1.0', round: 1, index: 0 }];
    expect(await send('now', { payload: { amount: 30 } }, keys.steer.auth)).toMatchObject({
      status: 200,
      body: { event: 'now', resolved, kept: false },
    });
    expect(await resultOf(run)).toEqual(['{"amount":30}']);
    expect(await sender(run)).toEqual([{ status: 'resolved', ended_by: `key:${keys.steer.id}` }]);
    expect((await send('later', { payload: 'early', keep_ms: 3_600_000 })).body).toEqual({
      event: 'later',
      resolved: [],
      kept: true,
    });
    expect(await resultOf(await enqueue('later'))).toEqual(['early']);
    const empty = await waiting('empty');
    expect((await send('empty')).body).toMatchObject({ resolved: [{ run_id: empty.id }] });
    expect(await resultOf(empty)).toEqual(['null']);
  });

  test('that make no sense, or come without the scope, reach nobody', async () => {
    const run = await waiting('guarded');
    for (const [body, code] of [
      [{ payload: 'x'.repeat(300_000) }, 'invalid_input'],
      [{ payload: 1, keep_ms: -1 }, 'invalid_request'],
      [{ amount: 30 }, 'invalid_request'],
      [[], 'invalid_request'],
    ] as const)
      expect(await send('guarded', body)).toMatchObject(problem(400, code));
    expect(await send('two%20words')).toMatchObject(problem(400, 'invalid_id'));
    expect(await send('guarded', {}, {})).toMatchObject(problem(401, 'unauthorized'));
    for (const path of ['/v1/events/guarded', '/v1/events/guarded/tokens'])
      expect(await api.call('POST', path, {}, keys.reader.auth)).toMatchObject(problem(403, 'forbidden'));
    const tokens = (body: object) => api.call('POST', '/v1/events/guarded/tokens', body, root);
    for (const body of [{ expires_ms: 0 }, { keep_ms: 'long' }, { tenant: 'acme' }])
      expect(await tokens(body)).toMatchObject(problem(400, 'invalid_request'));
    expect((await api.lanefold.runs.get(run)).status).toBe('suspended');
  });

  test('of a signed path need no key, and go to the tenant of the token alone', async () => {
    const runs = await Promise.all(['acme', 'bolt'].map((id) => waiting('shared', api.lanefold.forTenant(id))));
    expect((await send('shared')).body).toMatchObject({ resolved: [] });
    const path = await pathOf('shared', { expires_ms: 3_600_000, keep_ms: 3_600_000 }, keys.acme.auth);
    const answer = { status: 200, body: { event: 'shared', resolved: 1 } };
    expect(await api.call('POST', path, { amount: 30 })).toMatchObject(answer);
    expect(await resultOf(runs[0]!)).toEqual(['{"amount":30}']);
    expect(await sender(runs[0]!)).toEqual([{ status: 'resolved', ended_by: 'signed' }]);
    expect(await resultOf(await enqueue('shared', api.lanefold.forTenant('acme')))).toEqual(['{"amount":30}']);
    expect(await api.call('POST', path, 'null', { 'content-type': 'application/json' })).toMatchObject({
      status: 200,
      body: { resolved: 0 },
    });
    expect((await api.lanefold.runs.get(runs[1]!)).status).toBe('suspended');
    expect((await send('shared', { payload: 'own' }, keys.bolt.auth)).body).toMatchObject({
      resolved: [{ run_id: runs[1]!.id }],
    });
  });

  test('of a signed path end after 30 days by default, and with the key that made the token', async () => {
    const { readEventToken } = await import('../../src/base/tokens/token.ts');
    const made = async (auth: Record<string, string>, body: object = {}) => {
      const path = await pathOf('ends', body, auth);
      return { path, grant: readEventToken(path.split('/').at(-1)!, ['new secret'], 0) };
    };
    const days = (ms: number) => Math.round((ms - Date.now()) / 86_400_000);
    const ofRoot = await made(root);
    expect([days(ofRoot.grant.expiresAtMs), ofRoot.grant.key]).toEqual([30, undefined]);
    expect(days((await made(root, { expires_ms: 86_400_000 })).grant.expiresAtMs)).toBe(1);
    const { id, key } = await api.lanefold.keys.create({ name: 'short', scopes: ['steer'] });
    const own = await made({ authorization: `Bearer ${key}` });
    expect(own.grant.key).toBe(id);
    const post = (path: string) => api.call('POST', path, {});
    expect((await post(own.path)).status).toBe(200);
    await api.lanefold.keys.rotate(id, { overlapMs: 0 });
    expect((await post(own.path)).status).toBe(200);
    await api.lanefold.keys.revoke(id);
    expect(await post(own.path)).toMatchObject(problem(410, 'token_expired'));
    expect((await post(ofRoot.path)).status).toBe(200);
    // of a key that expires, no later than the key, whatever was asked for
    const brief = await mintKey(api.call, root, { scopes: ['steer'], expires_in_ms: 3_600_000 });
    for (const body of [{}, { expires_ms: 86_400_000 }]) {
      const { path, grant } = await made(brief.auth, body);
      const { expiresAt } = (await api.lanefold.keys.list()).find(({ id: one }) => one === brief.id)!;
      expect(grant.key).toBe(brief.id);
      // not a day or more, as was asked for
      expect(grant.expiresAtMs - expiresAt!.getTime()).toBeLessThan(3_600_000);
      expect((await post(path)).status).toBe(200);
      await api.lanefold.database.pool.query('update lanefold._api_key set expires_at = now() where id = $1', [
        brief.id,
      ]);
      expect(await post(path)).toMatchObject(problem(410, 'token_expired'));
      await api.lanefold.database.pool.query('update lanefold._api_key set expires_at = $2 where id = $1', [
        brief.id,
        expiresAt,
      ]);
    }
    // a tenant's library knows no keys of other tenants
    const acme = await made(keys.acme.auth);
    const sent = api.lanefold.forTenant('acme').events.sendSigned(acme.path.split('/').at(-1)!);
    expect(await sent).toMatchObject({ event: 'ends', resolved: [] });
  });

  test('of a signed path are refused if the token or the request is wrong', async () => {
    const run = await waiting('signed');
    const grant = { tenant: 'default', event: 'signed', keepMs: 0, expiresAtMs: 4e12 };
    const post = (token: string, body: unknown = {}) => api.call('POST', `/signed/events/${token}`, body);
    const token = signEvent(grant, 'new secret');
    const [version, payload, signature] = token.split('.') as [string, string, string];
    const other = signEvent({ ...grant, event: 'other' }, 'new secret').split('.')[1]!;
    for (const wrong of [
      signEvent(grant, 'another secret'),
      `${version}.${other}.${signature}`,
      `${version}.${payload}.`,
      `${version}.${payload}`,
      `ev2.${payload}.${signature}`,
      signature,
      'x',
      '%00',
      'ev1..',
    ])
      expect(await post(wrong)).toMatchObject(problem(400, 'invalid_event_token'));
    const expired = signEvent({ ...grant, expiresAtMs: 1 }, 'new secret');
    expect(await post(expired)).toMatchObject(problem(410, 'token_expired'));
    expect(await post(token, 'x'.repeat(10))).toMatchObject(problem(400, 'invalid_json'));
    expect(await post(token, { text: 'x'.repeat(300_000) })).toMatchObject(problem(400, 'invalid_input'));
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const posted = await api.call('POST', `/signed/events/${token}`, 'amount=30', form);
    expect(posted).toMatchObject(problem(415, 'unsupported_media_type'));
    const get = await api.call('GET', `/signed/events/${token}`);
    expect(get).toMatchObject(problem(405, 'method_not_allowed'));
    expect(get.headers.get('allow')).toBe('POST');
    expect((await api.lanefold.runs.get(run)).status).toBe('suspended');
    const rotated = await post(signEvent(grant, 'old secret'), '"paid"');
    expect(rotated).toMatchObject({ status: 200, body: { event: 'signed', resolved: 1 } });
    expect(await resultOf(run)).toEqual(['paid']);
    // last: the server closes the connection if the rest of the body takes long, and the client would use it again
    expect(await post(token, { text: 'x'.repeat(5_000_000) })).toMatchObject(problem(413, 'body_too_large'));
  });
});
