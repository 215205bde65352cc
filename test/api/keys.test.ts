// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Scope, scopes } from '../../src/base/access/principal.ts';
import { operationsOf, type OpenApi } from './document.ts';
import { bearer, mintKey, problem, startApi, type Answer, type Api } from './helpers.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi({ worker: false, server: { apiKey: 'root' }, tokenSecrets: ['s'] });
  for (const id of ['desk-1', 'shop-1']) await api.lanefold.threads.create({ id });
});
afterAll(() => api?.close());

const root = bearer('root');
const mint = (fields: object) => mintKey(api.call, root, fields);
const call = (auth: Record<string, string>, method: string, path: string, body?: unknown): Promise<Answer> =>
  api.call(method, path, body, auth);

describe('every operation of the document', () => {
  /** What its method and path ask for: not taken from the table that is tested. */
  const needed = (method: string, path: string): Scope => {
    if (/^\/v1\/(keys|audit)/.test(path)) return 'admin';
    if (method === 'GET' || /^\/v1\/(runs\/collect|tokens)$/.test(path)) return 'read';
    if (/^\/v1\/(threads\/\{thread_id\}\/streams|stream)\//.test(path)) return 'run';
    if (method !== 'POST' || /^\/v1\/(schedules|webhooks|monitors|alarms|circuits|cases)/.test(path)) return 'admin';
    if (/\/(approve|deny)$/.test(path)) return 'approve';
    if (/\/(steer|inject|cancel|resolve|cancel-many|release-many)$/.test(path) || path.startsWith('/v1/events/'))
      return 'steer';
    if (path === '/v1/ag-ui/{agent}') return 'run';
    return /\/(threads|entries|feedback|fork|branch|show|runs|retry|retry-many|rerun|resume|checkpoint|replay)$/.test(
      path,
    )
      ? 'run'
      : 'admin';
  };
  interface Checked {
    id: string;
    method: string;
    path: string;
    scope: Scope;
  }
  const operations: Checked[] = [];
  const keys = new Map<Scope, Record<string, string>>();
  beforeAll(async () => {
    const { body } = await api.call('GET', '/openapi.json', undefined, root);
    const parts: Record<string, string> = { thread_id: 'none', call: '1.0' };
    for (const { path, method, operationId: id } of operationsOf(body as OpenApi)) {
      if (!path.startsWith('/v1/')) continue;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? 'x');
      operations.push({ id, method, path: filled, scope: needed(method, path) });
    }
    for (const scope of scopes) keys.set(scope, (await mint({ scopes: [scope] })).auth);
  });

  /** Whether a key with this scope alone gets in where it should not, or does not where it should. */
  async function isWrong({ method, path, scope }: Checked, given: Scope): Promise<boolean> {
    const { status, body } = await call(keys.get(given)!, method, path, method === 'GET' ? undefined : {});
    const refused = status === 403 && (body as { code: string }).code === 'forbidden';
    return refused !== (scope !== given);
  }

  test('needs one scope: what forgets to name it needs admin', async () => {
    expect(operations.length).toBeGreaterThan(25);
    const wrong: string[] = [];
    for (const [at, operation] of operations.entries()) {
      // of the others, a different one each time: every pair of scopes is tried
      const others = scopes.filter((scope) => scope !== operation.scope);
      for (const scope of [operation.scope, others[at % others.length]!])
        if (await isWrong(operation, scope)) wrong.push(`${operation.id}: ${scope}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe('a key', () => {
  test('is bound to threads, agents and limits', async () => {
    const { auth } = await mint({ scopes: ['read', 'run'], thread_prefix: 'desk-', agents: ['calc'] });
    expect((await call(auth, 'GET', '/v1/threads/desk-1')).status).toBe(200);
    expect(await call(auth, 'GET', '/v1/threads/shop-1')).toMatchObject(problem(403, 'forbidden'));
    expect(await call(auth, 'POST', '/v1/threads', {})).toMatchObject(problem(403, 'forbidden'));
    expect((await call(auth, 'POST', '/v1/threads', { id: 'desk-2' })).status).toBe(201);
    const run = (agent: string) => call(auth, 'POST', '/v1/threads/desk-1/runs', { agent, input: 'hi' });
    expect(await run('other')).toMatchObject(problem(403, 'forbidden'));
    expect((await run('calc')).status).toBe(202);
    expect(await call(auth, 'GET', '/metrics')).toMatchObject(problem(403, 'forbidden'));

    const slow = await mint({ scopes: ['read'], limits: { requests_per_minute: 2, body_bytes: 10 } });
    const large = await call(slow.auth, 'POST', '/v1/threads', { id: 'a-long-name' });
    expect(large).toMatchObject(problem(413, 'body_too_large'));
    expect((await call(slow.auth, 'GET', '/v1/threads/desk-1')).status).toBe(200);
    const refused = await call(slow.auth, 'GET', '/v1/threads/desk-1');
    expect(refused).toMatchObject(problem(429, 'rate_limited'));
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('has a bounded number of streams open, and a closed one makes room', async () => {
    const { auth } = await mint({ scopes: ['read'], limits: { streams: 1 } });
    const open = () => {
      const controller = new AbortController();
      const headers = { ...auth, accept: 'text/event-stream' };
      const answer = fetch(`${api.url}/v1/threads/shop-1/events`, { headers, signal: controller.signal });
      return { controller, answer };
    };
    const first = open();
    expect((await first.answer).status).toBe(200);
    expect((await open().answer).status).toBe(429);
    first.controller.abort();
    await expect.poll(async () => (await open().answer).status).toBe(200);
  });

  test('works until it is revoked or rotated away', async () => {
    const { id, auth } = await mint({ scopes: ['read'] });
    const { body } = await call(root, 'POST', `/v1/keys/${id}/rotate`, { overlap_ms: 60_000 });
    const rotated = bearer((body as { key: string }).key);
    for (const either of [auth, rotated]) expect((await call(either, 'GET', '/v1/threads/desk-1')).status).toBe(200);
    const gone = await mint({ scopes: ['read'] });
    expect((await call(root, 'DELETE', `/v1/keys/${gone.id}`)).status).toBe(204);
    expect(await call(gone.auth, 'GET', '/v1/threads/desk-1')).toMatchObject(problem(401, 'unauthorized'));
    const { id: lasting } = await mint({ scopes: ['read'], expires_in_ms: 60_000 });
    const { createdAt, expiresAt } = (await api.lanefold.keys.get(lasting))!;
    // by the clock that will say whether it has expired, and no other
    expect(expiresAt!.getTime() - createdAt.getTime()).toBe(60_000);
    const expired = await mint({ scopes: ['read'], expires_in_ms: 1 });
    expect(await call(expired.auth, 'GET', '/v1/threads/desk-1')).toMatchObject(problem(401, 'unauthorized'));
    expect(await call(root, 'DELETE', '/v1/keys/key_none')).toMatchObject(problem(404, 'key_not_found'));
    const { text } = await call(root, 'GET', '/v1/keys');
    expect(text).toContain(id);
    expect(text).not.toContain(auth['authorization']!.slice(-20));
  });

  test('that is bound does not make keys or read the audit, whatever its scopes', async () => {
    const { auth } = await mint({ scopes: [...scopes], agents: ['calc'] });
    for (const path of ['/v1/keys', '/v1/audit', '/v1/threads', '/v1/runs', '/v1/approvals']) {
      expect(await call(auth, 'GET', path)).toMatchObject(problem(403, 'forbidden'));
    }
  });
});

describe('a key with the scope admin', () => {
  const limits = { requests_per_minute: 100_000, runs: 5 };
  let admin: { id: string; auth: Record<string, string> };
  beforeAll(async () => {
    admin = await mint({ scopes: ['admin', 'read'], tenant: 'acme', limits, expires_in_ms: 3_600_000 });
  });
  const within = { name: 'x', scopes: ['read'], limits: { ...limits, runs: 4 }, expires_in_ms: 60_000 };

  test.each([
    ['a scope', { scopes: ['read', 'run'] }],
    ['another tenant', { tenant: 'bolt' }],
    ['no limits', { limits: undefined }],
    ['a higher limit', { limits: { ...limits, runs: 6 } }],
    ['without one of its limits', { limits: { runs: 5 } }],
    ['a longer life', { expires_in_ms: 7_200_000 }],
    ['no end', { expires_in_ms: undefined }],
  ])('makes no key with more than it has itself: %s', async (_, more) => {
    const before = (await api.lanefold.keys.list()).length;
    const { status, body } = await call(admin.auth, 'POST', '/v1/keys', { ...within, ...more });
    expect([status, (body as { code: string }).code]).toEqual(
      'tenant' in more ? [400, 'invalid_input'] : [403, 'forbidden'],
    );
    expect(await api.lanefold.keys.list()).toHaveLength(before);
  });

  test('makes keys with less, and for fewer agents and threads', async () => {
    expect((await call(admin.auth, 'POST', '/v1/keys', within)).status).toBe(201);
    const less = { ...within, scopes: ['admin'], agents: ['calc'], thread_prefix: 'desk-' };
    expect((await call(admin.auth, 'POST', '/v1/keys', less)).status).toBe(201);
  });

  test('gets no secret of a key with more by rotating it', async () => {
    const stronger = await mint({ scopes: ['approve'], tenant: 'acme' });
    const equal = await mint({ scopes: ['read'], tenant: 'acme', limits, expires_in_ms: 60_000 });
    expect(await call(admin.auth, 'POST', `/v1/keys/${stronger.id}/rotate`, {})).toMatchObject(
      problem(403, 'forbidden'),
    );
    expect((await call(stronger.auth, 'GET', '/v1/threads/desk-1')).body).toMatchObject({ code: 'forbidden' });
    expect((await call(admin.auth, 'POST', `/v1/keys/${equal.id}/rotate`, {})).status).toBe(201);
    expect(await call(admin.auth, 'POST', '/v1/keys/key_none/rotate', {})).toMatchObject(problem(404, 'key_not_found'));
    expect((await call(admin.auth, 'DELETE', `/v1/keys/${stronger.id}`)).status).toBe(204);
  });
});

describe('the audit', () => {
  test('says who did what, and nothing of what was refused', async () => {
    const { id, auth } = await mint({ scopes: ['admin', 'steer'] });
    await call(auth, 'PATCH', '/v1/threads/shop-1/config', { system_prompt: 'Be kind.' });
    await call(auth, 'POST', '/v1/threads/shop-1/runs/none/cancel', {});
    const { body } = await call(root, 'GET', '/v1/audit?thread_id=shop-1');
    const { data } = body as { data: Record<string, unknown>[] };
    expect(data).toMatchObject([{ actor: `key:${id}`, action: 'changeConfig', thread_id: 'shop-1' }]);
    const made = await api.lanefold.audit.list({ limit: 1_000 });
    expect(made.filter(({ action, detail }) => action === 'keys.create' && detail['key'] === id)).toHaveLength(1);
  });

  test('has a line for each run that may interrupt another, which needs the scope steer', async () => {
    const asker = await mint({ scopes: ['read', 'run'] });
    const steerer = await mint({ scopes: ['read', 'run', 'steer'] });
    const request = { agent: 'calc', input: 'hi' };
    const active = await api.lanefold.runs.enqueue({ ...request, threadId: 'busy-1', createThread: true });
    const ended = await api.lanefold.runs.enqueue({ ...request, threadId: 'busy-2', createThread: true });
    await api.lanefold.runs.cancel(ended);
    // the thread of a request without one follows from its id
    await api.lanefold.runs.enqueue({ ...request, requestId: 'ask-once' });
    const interrupting = [
      ['/v1/threads/busy-1/runs', { ...request, busy: 'interrupt' }],
      [
        '/v1/runs',
        {
          runs: [
            { ...request, thread_id: 'busy-1', busy: 'wait' },
            { ...request, thread_id: 'busy-1', busy: 'interrupt' },
          ],
        },
      ],
      ['/v1/runs', { runs: [{ ...request, request_id: 'ask-once', busy: 'interrupt' }] }],
      [`/v1/threads/busy-2/runs/${ended.id}/retry`, { busy: 'interrupt' }],
    ] as const;
    const lines = async () =>
      (await api.lanefold.audit.list({ limit: 1_000 })).filter(({ detail }) => detail['busy'] === 'interrupt');
    for (const [path, body] of interrupting)
      expect(await call(asker.auth, 'POST', path, body)).toMatchObject(problem(403, 'forbidden'));
    expect((await api.lanefold.runs.get(active)).status).toBe('queued');
    expect((await api.lanefold.runs.list({ threadId: 'busy-1' })).data).toHaveLength(1);
    expect(await lines()).toEqual([]);

    for (const [path, body] of interrupting) expect((await call(steerer.auth, 'POST', path, body)).status).toBe(202);
    expect((await api.lanefold.runs.get(active)).status).toBe('cancelled');
    const actor = `key:${steerer.id}`;
    expect(await lines()).toMatchObject([
      { actor, action: 'createRun', threadId: 'busy-1' },
      { actor, action: 'createRuns', threadId: 'busy-1' },
      { actor, action: 'retryRun', threadId: 'busy-2', runId: ended.id },
    ]);
  });
});
