// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrowserAccess } from '../../src/base/access/browser-token.ts';
import { operationsOf, resolved, type OpenApi } from './document.ts';
import { bearer, mintKey, problem, startApi, type Answer, type Api } from './helpers.ts';

let api: Api;
let document: OpenApi;
beforeAll(async () => {
  api = await startApi({ worker: false, server: { apiKey: 'root' }, tokenSecrets: ['s'] });
  for (const id of ['desk-1', 'shop-1']) await api.lanefold.threads.create({ id });
  document = (await api.call('GET', '/openapi.json', undefined, root)).body;
});
afterAll(() => api?.close());

const root = bearer('root');
const mint = (fields: object) => mintKey(api.call, root, fields);
const call = (auth: Record<string, string>, method: string, path: string, body?: unknown): Promise<Answer> =>
  api.call(method, path, body, auth);
const tokenFor = (threadId: string, access: BrowserAccess) =>
  bearer(api.lanefold.keys.browserToken({ threadId, access }).token);

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

  test('reads no entries, neither from the log nor from a stream', async () => {
    const run = await api.lanefold.runs.enqueue({ agent: 'calc', input: 'hi', threadId: 'desk-1' });
    const auth = tokenFor('desk-1', 'read');
    for (const path of ['', `/runs/${run.id}`]) {
      const events = `/v1/threads/desk-1${path}/events?format=sse&entries=true`;
      expect(await call(auth, 'GET', events)).toMatchObject(problem(403, 'forbidden'));
    }
    expect(await call(auth, 'GET', '/v1/threads/desk-1/entries')).toMatchObject(problem(403, 'forbidden'));
    await api.lanefold.runs.cancel(run);
  });

  test('is for the agents that it names, over HTTP as in the library', async () => {
    const body = { agent: 'calc', input: 'hi', create_thread: true };
    const named = async (threadId: string, agents: string[]) => [
      (await mintToken(root, { thread_id: threadId, access: 'chat', agents })).auth,
      bearer(api.lanefold.keys.browserToken({ threadId, access: 'chat', agents }).token),
    ];
    for (const [i, auth] of (await named('calc-only', ['calc'])).entries())
      expect(
        (await call(auth, 'POST', '/v1/threads/calc-only/runs', { ...body, busy: 'wait', request_id: `r${i}` })).status,
      ).toBe(202);
    for (const auth of await named('other-only', ['other']))
      expect(await call(auth, 'POST', '/v1/threads/other-only/runs', body)).toMatchObject(problem(403, 'forbidden'));
    const { auth: bound } = await mint({ scopes: ['read', 'run', 'steer'], agents: ['calc'] });
    expect((await mintToken(bound, { thread_id: 'calc-only', access: 'chat', agents: ['calc'] })).status).toBe(201);
    expect((await mintToken(bound, { thread_id: 'calc-only', access: 'chat', agents: ['calc', 'other'] })).status).toBe(
      403,
    );
    const { auth } = await mintToken(bound, { thread_id: 'other-only', access: 'chat' });
    expect(await call(auth, 'POST', '/v1/threads/other-only/runs', { ...body, agent: 'other' })).toMatchObject(
      problem(403, 'forbidden'),
    );
  });

  test('gives no more than the key that mints it has', async () => {
    const { auth } = await mint({ scopes: ['read'], thread_prefix: 'desk-' });
    expect((await mintToken(auth, { thread_id: 'desk-1', access: 'read' })).status).toBe(201);
    expect((await mintToken(auth, { thread_id: 'desk-1', access: 'chat' })).status).toBe(403);
    const { auth: chat } = await mint({ scopes: ['read', 'run', 'steer'] });
    expect((await mintToken(chat, { thread_id: 'desk-1', access: 'approve' })).status).toBe(403);
    expect((await mintToken(auth, { thread_id: 'shop-1', access: 'read' })).status).toBe(403);
  });

  test('does not outlive the key that mints it', async () => {
    const { body } = await call(root, 'POST', '/v1/keys', { name: 'brief', scopes: ['read'], expires_in_ms: 60_000 });
    const keys = (await call(root, 'GET', '/v1/keys')).body as { data: { id: string; expires_at: string }[] };
    const expires = keys.data.find(({ id }) => id === (body as { id: string }).id)!.expires_at;
    const auth = bearer((body as { key: string }).key);
    const fields = { thread_id: 'desk-1', access: 'read', expires_in_ms: 3_600_000 };
    const minted = (await call(auth, 'POST', '/v1/tokens', fields)).body as { expires_at: string };
    // the database's clock and this process's are compared
    expect(Math.abs(Date.parse(minted.expires_at) - Date.parse(expires))).toBeLessThan(30_000);
  });

  /** Not taken from the lists that are tested. */
  const readable = [
    'getThread',
    'getRun',
    'listInputs',
    'listRunEvents',
    'listRuns',
    'listThreadEvents',
    'listUiMessages',
    'readContent',
    'readRunTrace',
    'readThreadStream',
    'readThreadTrace',
  ];
  const asking = ['branchThread', 'cancelRun', 'createRun', 'runAgUi', 'showLane', 'steerRun'];
  /** A body that names the thread, where its path does not. */
  const named = (operationId: string) => (operationId === 'runAgUi' ? { threadId: 'desk-1' } : {});
  test.each([
    ['read', readable],
    ['chat', [...asking, ...readable].sort()],
    ['approve', ['approveToolCall', 'denyToolCall', ...asking, ...readable].sort()],
  ] as const)('for %s has a list of operations, and everything else is refused', async (access, expected) => {
    const auth = tokenFor('desk-1', access);
    const allowed: string[] = [];
    for (const { operationId, method, path } of operationsOf(document)) {
      if (!path.startsWith('/v1/')) continue;
      const filled = path
        .replace('{thread_id}', 'desk-1')
        .replace('{call}', '1.0')
        .replaceAll(/\{\w+\}/g, 'x');
      const { status, body } = await call(auth, method, filled, method === 'GET' ? undefined : named(operationId));
      if (status !== 403 || (body as { code: string }).code !== 'forbidden') allowed.push(operationId);
    }
    expect(allowed.sort()).toEqual([...expected].sort());
  });

  test.each([
    ['POST /v1/threads/{thread_id}/runs', ['agent', 'input', 'request_id', 'busy', 'create_thread']],
    ['POST /v1/threads/{thread_id}/branch', ['message_id', 'agent', 'input', 'op_id', 'busy']],
    ['POST /v1/threads/{thread_id}/contexts/{context_ref}/show', ['op_id']],
    ['POST /v1/threads/{thread_id}/runs/{run_id}/steer', ['content', 'expected_request_id', 'input_id']],
    ['POST /v1/threads/{thread_id}/runs/{run_id}/cancel', ['reason']],
    ['POST /v1/threads/{thread_id}/runs/{run_id}/tool-calls/{call}/approve', ['reason']],
    ['POST /v1/threads/{thread_id}/runs/{run_id}/tool-calls/{call}/deny', ['reason']],
  ])('sends to %s only fields of a list', async (route, expected) => {
    const [method, template] = route.split(' ') as [string, string];
    const path = template
      .replace('{thread_id}', 'shop-1')
      .replace('{run_id}', 'none')
      .replace('{call}', '1.0')
      .replace('{context_ref}', 'default');
    const operation = operationsOf(document).find((one) => one.method === method && one.path === template)!;
    const { properties } = resolved(document, operation.requestBody!.content['application/json'].schema);
    const allowed: string[] = [];
    for (const field of [...Object.keys(properties!), 'invented']) {
      const { status } = await call(tokenFor('shop-1', 'approve'), method, path, { [field]: null });
      if (status !== 403) allowed.push(field);
    }
    expect(allowed.sort()).toEqual([...expected].sort());
    expect((await api.lanefold.runs.list({ threadId: 'shop-1' })).data).toEqual([]);
  });

  test('creates its thread with its first run, with nothing but an id', async () => {
    const auth = tokenFor('new-1', 'chat');
    const path = '/v1/threads/new-1/runs';
    const forged = { agent: 'calc', input: 'hi', create_thread: true, tool_context: { user: 'admin' } };
    expect(await call(auth, 'POST', path, forged)).toMatchObject(problem(403, 'forbidden'));
    await expect(api.lanefold.threads.get('new-1')).rejects.toMatchObject({ code: 'thread_not_found' });
    const asked = await call(auth, 'POST', path, { agent: 'calc', input: 'hi', create_thread: true });
    expect(asked.status).toBe(202);
    const { id } = asked.body as { id: string };
    expect(await api.lanefold.threads.get('new-1')).toMatchObject({ tenantId: 'default', metadata: {} });
    expect((await call(auth, 'GET', `/v1/threads/new-1/runs/${id}`)).status).toBe(200);
    expect((await call(auth, 'POST', `/v1/threads/new-1/runs/${id}/steer`, { content: 'more' })).status).toBe(202);
    expect((await call(auth, 'POST', `/v1/threads/new-1/runs/${id}/cancel`, {})).body).toMatchObject({
      accepted: true,
    });
  });
});
