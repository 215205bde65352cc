import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operationScopes } from '../../src/api/access/scopes.ts';
import type { Scope } from '../../src/access/scope.ts';
import { scopes } from '../../src/access/scope.ts';
import { operationsOf, type OpenApi } from './document.ts';
import { problem, startApi, type Answer, type Api } from './helpers.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi({ worker: false, server: { apiKey: 'root' }, tokenSecrets: ['s'] });
  for (const id of ['desk-1', 'shop-1']) await api.lanefold.threads.create({ id });
});
afterAll(() => api?.close());

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const root = bearer('root');
const mint = async (fields: object): Promise<{ id: string; auth: Record<string, string> }> => {
  const { status, body } = await api.call('POST', '/v1/keys', { name: 'test', ...fields }, root);
  expect(status).toBe(201);
  const { id, key } = body as { id: string; key: string };
  return { id, auth: bearer(key) };
};
const call = (auth: Record<string, string>, method: string, path: string, body?: unknown): Promise<Answer> =>
  api.call(method, path, body, auth);

describe('every operation of the document', () => {
  /** What its method and path ask for: not taken from the table that is tested. */
  const needed = (method: string, path: string): Scope => {
    if (/^\/v1\/(keys|audit)/.test(path)) return 'admin';
    if (method === 'GET' || /^\/v1\/(runs\/collect|tokens)$/.test(path)) return 'read';
    if (method !== 'POST') return 'admin';
    if (/\/(approve|deny)$/.test(path)) return 'approve';
    if (/\/(steer|inject|cancel)$/.test(path)) return 'steer';
    return /\/(threads|entries|fork|runs|retry|rerun|resume|checkpoint|replay)$/.test(path) ? 'run' : 'admin';
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
    const known = operations.map(({ id }) => id);
    expect(Object.keys(operationScopes).filter((id) => !known.includes(id))).toEqual([]);
    const wrong: string[] = [];
    for (const operation of operations)
      for (const scope of scopes) if (await isWrong(operation, scope)) wrong.push(`${operation.id}: ${scope}`);
    expect(wrong).toEqual([]);
  });

  test('is checked by its scope: with another one in the table, the check above fails', async () => {
    const table = operationScopes as Record<string, Scope>;
    const unnoticed: string[] = [];
    for (const operation of operations) {
      const { id, scope } = operation;
      const before = table[id];
      table[id] = scope === 'read' ? 'run' : 'read';
      if (!(await isWrong(operation, table[id]))) unnoticed.push(id);
      if (before === undefined) delete table[id];
      else table[id] = before;
    }
    // these check the id of the fork and the agent by themselves
    expect(unnoticed).toEqual(['forkThread', 'compactLane']);
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

describe('a browser token', () => {
  const mintToken = async (auth: Record<string, string>, fields: object) => {
    const { status, body } = await call(auth, 'POST', '/v1/tokens', fields);
    return { status, auth: bearer((body as { token: string }).token) };
  };

  test('opens one thread, for as long as it lasts', async () => {
    const { auth } = await mintToken(root, { thread_id: 'desk-1', access: 'read' });
    expect((await call(auth, 'GET', '/v1/threads/desk-1')).status).toBe(200);
    expect(await call(auth, 'GET', '/v1/threads/shop-1')).toMatchObject(problem(403, 'forbidden'));
    expect(await call(auth, 'POST', '/v1/threads/desk-1/runs', {})).toMatchObject(problem(403, 'forbidden'));
    expect(await call(auth, 'POST', '/v1/tokens', { thread_id: 'desk-1', access: 'read' })).toMatchObject(
      problem(403, 'forbidden'),
    );
    const altered = auth['authorization']!.replace(/.\./, (end) => (end[0] === 'A' ? 'B.' : 'A.'));
    expect(await call({ authorization: altered }, 'GET', '/v1/threads/desk-1')).toMatchObject(
      problem(401, 'unauthorized'),
    );
    const { token } = api.lanefold.keys.browserToken({ threadId: 'desk-1', access: 'read', expiresInMs: 1 });
    await expect.poll(async () => (await call(bearer(token), 'GET', '/v1/threads/desk-1')).status).toBe(401);
  });

  test('gives no more than the key that mints it has', async () => {
    const { auth } = await mint({ scopes: ['read'], thread_prefix: 'desk-' });
    expect((await mintToken(auth, { thread_id: 'desk-1', access: 'read' })).status).toBe(201);
    expect((await mintToken(auth, { thread_id: 'desk-1', access: 'chat' })).status).toBe(403);
    expect((await mintToken(auth, { thread_id: 'shop-1', access: 'read' })).status).toBe(403);
  });
});

describe('the audit', () => {
  test('says who did what, before it is done, and cannot be changed', async () => {
    const { id, auth } = await mint({ scopes: ['admin', 'steer'] });
    await call(auth, 'PATCH', '/v1/threads/shop-1/config', { system_prompt: 'Be kind.' });
    await call(auth, 'POST', '/v1/threads/shop-1/runs/none/cancel', {});
    const { body } = await call(root, 'GET', '/v1/audit?thread_id=shop-1');
    const { data } = body as { data: Record<string, unknown>[] };
    expect(data.slice(-2)).toMatchObject([
      { actor: `key:${id}`, action: 'changeConfig', thread_id: 'shop-1' },
      { actor: `key:${id}`, action: 'cancelRun', thread_id: 'shop-1', run_id: 'none' },
    ]);
    const made = await api.lanefold.audit.list({ limit: 1_000 });
    expect(made.filter(({ action, detail }) => action === 'keys.create' && detail['key'] === id)).toHaveLength(1);
  });
});
