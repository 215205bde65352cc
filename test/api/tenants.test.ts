// @module-tag slow
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scopes, type Scope } from '../../src/base/access/principal.ts';
import { operationsOf, resolved, type OpenApi, type Operation } from './document.ts';
import { bearer, mintKey, problem, startApi, type Answer, type Api } from './helpers.ts';

// Made from the OpenAPI document: an operation that is added is in it.

let api: Api;
let document: OpenApi;
let bolt: Record<'thread_id' | 'run_id' | 'key_id' | 'tenant_id' | 'llm_call_id', string>;
let acme: { thread: string; run: string };

const root = bearer('root');
const secret = 'secret-of-bolt';

const mint = (fields: object, by = root) => mintKey(api.call, by, fields);

/** A run that has ended, on a thread of a tenant. */
async function fill(tenant: string): Promise<{ thread: string; run: string; call: string }> {
  const { threads, runs } = api.lanefold.forTenant(tenant);
  const { id: thread } = await threads.create({ systemPrompt: `secret-of-${tenant}` });
  const run = await runs.enqueue({ agent: 'calc', input: `secret-of-${tenant}`, threadId: thread });
  await runs.wait(run);
  const events = await runs.events(run);
  const call = events.map(({ data }) => (data as { llm_call_id?: string }).llm_call_id).find(Boolean);
  return { thread, run: run.id, call: call ?? 'none' };
}

beforeAll(async () => {
  api = await startApi({
    server: { apiKey: 'root' },
    tokenSecrets: ['a secret of at least thirty-two bytes'],
    agents: [
      defineAgent({ name: 'calc', model: 'scripted:echo' }),
      defineAgent({ name: 'slow', model: 'scripted:["late"]?latency_ms=60000' }),
    ],
  });
  document = (await api.call('GET', '/openapi.json', undefined, root)).body as OpenApi;
  acme = await fill('acme');
  const { thread, run, call } = await fill('bolt');
  const key = await mint({ scopes: ['read'], tenant: 'bolt', name: secret });
  bolt = { thread_id: thread, run_id: run, key_id: key.id, tenant_id: 'bolt', llm_call_id: call };
  await api.call('PATCH', `/v1/threads/${thread}/config`, { system_prompt: secret }, root);
  // under the names that `request` asks for
  const { auth } = await mint({ scopes: ['run'], tenant: 'bolt' });
  for (const path of [`/v1/threads/${thread}/streams/1.0`, '/v1/stream/1.0'])
    expect((await api.call('PUT', path, [secret], auth)).status).toBe(201);
});
afterAll(() => api?.close());

type Ids = Partial<Record<string, string>>;

/** A request as the document describes it, with these ids in its path. One of AG-UI names its thread in its body. */
function request(auth: Record<string, string>, { method, path, ...operation }: Operation, ids: Ids): Promise<Answer> {
  const known: Ids = { ...ids, agent: 'calc' };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? '1.0');
  const { operationId, requestBody } = operation;
  if (operationId === 'runAgUi')
    return api.call(method, filled, { threadId: ids['thread_id'], runId: 'r', messages: [] }, auth);
  const schema = requestBody && resolved(document, requestBody.content['application/json'].schema);
  return api.call(method, filled, schema ? (schema.example ?? {}) : undefined, auth);
}

const without = (text: string, ids: Ids): string =>
  Object.values(ids).reduce<string>((said, id) => said.replaceAll(id!, '…'), text);

const everything = async () => ({
  thread: await api.call('GET', `/v1/threads/${bolt.thread_id}`, undefined, root),
  entries: (await api.call('GET', `/v1/threads/${bolt.thread_id}/entries`, undefined, root)).text,
  runs: (await api.call('GET', `/v1/threads/${bolt.thread_id}/runs`, undefined, root)).text,
  keys: (await api.lanefold.keys.list()).filter(({ id }) => id === bolt.key_id),
});

const nowhere: Ids = {
  thread_id: 'no-thread',
  run_id: 'no-run',
  key_id: 'no-key',
  tenant_id: 'no-tenant',
  llm_call_id: 'no-call',
};

/** Of another tenant, from any operation, with a key of these scopes; and changes nothing there. */
async function learnsNothing(...given: Scope[]): Promise<void> {
  const { auth } = await mint({ scopes: given, tenant: 'acme' });
  const before = await everything();
  const leaks: string[] = [];
  for (const operation of operationsOf(document)) {
    const { operationId } = operation;
    const answer = await request(auth, operation, bolt);
    const none = await request(auth, operation, nowhere);
    const said = without(answer.text, bolt);
    if (answer.text.includes(secret)) leaks.push(`${operationId}: ${answer.text}`);
    if (operationId === 'listAudit') {
      // it names what keys of this tenant asked for, whether or not that is there
      if (/"tenant_id":"(?!acme")/.test(answer.text)) leaks.push(`${operationId}: ${answer.text}`);
    } else if (!/\{/.test(operation.path) || /^\/v1\/(limits|monitors|alarms|events|stream)\//.test(operation.path)) {
      // a list, or what is made: each tenant has names of its own for its limits, monitors, alarms, events and streams
      for (const id of [bolt.thread_id, bolt.run_id, bolt.key_id])
        if (answer.text.includes(id)) leaks.push(`${operationId} says ${id}`);
    } else if (answer.status < 400 && operationId !== 'runAgUi') leaks.push(`${operationId}: ${answer.status}`);
    // AG-UI shows a thread that is not there as an empty one
    else if (`${answer.status} ${said}` !== `${none.status} ${without(none.text, nowhere)}`)
      leaks.push(`${operationId}: ${said}, but ${none.text} of what is not there`);
  }
  expect(leaks).toEqual([]);
  const after = await everything();
  expect({ ...after, thread: after.thread.text }).toEqual({ ...before, thread: before.thread.text });
}

test('a key of a tenant learns nothing of another one from any operation, and changes nothing there', () =>
  learnsNothing(...scopes));

// what one scope opens, all together open as well
test.each(scopes)('nor does a key that has only the scope %s', { tags: 'slow' }, learnsNothing);

test('what the operator does to a thread is in the audit of its tenant', async () => {
  const { auth } = await mint({ scopes: ['admin'], tenant: 'bolt' });
  const switching = { op_id: 'audited', context_ref: 'default', operation: { type: 'switch' } };
  const path = `/v1/threads/${bolt.thread_id}/context-operations`;
  expect((await api.call('POST', path, switching, root)).status).toBeLessThan(300);
  const { body } = await api.call('GET', `/v1/audit?thread_id=${bolt.thread_id}`, undefined, auth);
  const found = (body as { data: object[] }).data;
  expect(found).toContainEqual(
    expect.objectContaining({ actor: 'operator', action: 'applyContextOperation', tenant_id: 'bolt' }),
  );
});

test('what shows all tenants is closed to it: Bull Board, the metrics, the activity, the workers', async () => {
  const { auth } = await mint({ scopes: [...scopes], tenant: 'acme' });
  const pages = ['/metrics', '/admin/queues', '/admin/queues/api/queues', '/v1/activity', '/v1/workers'];
  for (const path of pages) expect(await api.call('GET', path, undefined, auth)).toMatchObject({ status: 403 });
});

test('of its own tenant it sees all, also in lists, and makes what belongs to it', async () => {
  const { auth } = await mint({ scopes: [...scopes], tenant: 'acme' });
  const get = async (path: string) => (await api.call('GET', path, undefined, auth)).text;
  for (const path of ['/v1/threads', '/v1/threads?tenant_id=acme']) {
    const text = await get(path);
    expect(text).toContain(acme.thread);
    expect(text).not.toContain(bolt.thread_id);
  }
  expect(await get('/v1/threads?tenant_id=bolt')).not.toContain(bolt.thread_id);
  expect(await get('/v1/runs')).toContain(acme.run);
  const { body } = await api.call('POST', '/v1/threads', {}, auth);
  expect(body).toMatchObject({ tenant_id: 'acme' });
  const foreign = await api.call('POST', '/v1/threads', { tenant_id: 'bolt' }, auth);
  expect(foreign).toMatchObject(problem(400, 'invalid_input'));
  expect(await api.call('POST', '/v1/threads', { id: bolt.thread_id }, auth)).toMatchObject(
    problem(409, 'thread_exists'),
  );
});

test('a key of a tenant makes keys for it alone, and sees and ends no others', async () => {
  const { auth } = await mint({ scopes: ['admin', 'read'], tenant: 'acme' });
  const own = await mint({ scopes: ['read'] }, auth);
  expect((await api.lanefold.keys.list()).find(({ id }) => id === own.id)).toMatchObject({ tenant: 'acme' });
  expect(await api.call('GET', `/v1/threads/${bolt.thread_id}`, undefined, own.auth)).toMatchObject(
    problem(404, 'thread_not_found'),
  );
  const foreign = await api.call('POST', '/v1/keys', { name: 'x', scopes: ['read'], tenant: 'bolt' }, auth);
  expect(foreign).toMatchObject(problem(400, 'invalid_input'));
  const listed = (await api.call('GET', '/v1/keys', undefined, auth)).text;
  expect(listed).toContain(own.id);
  expect(listed).not.toContain(bolt.key_id);
  for (const [method, path] of [
    ['DELETE', `/v1/keys/${bolt.key_id}`],
    ['POST', `/v1/keys/${bolt.key_id}/rotate`],
  ] as const)
    expect(await api.call(method, path, method === 'POST' ? {} : undefined, auth)).toMatchObject(
      problem(404, 'key_not_found'),
    );
});

test('a token for a browser is of the tenant of the key that minted it, and so is a stream', async () => {
  const { auth } = await mint({ scopes: [...scopes], tenant: 'acme' });
  const token = async (thread_id: string) => {
    const { body } = await api.call('POST', '/v1/tokens', { thread_id, access: 'chat' }, auth);
    return bearer((body as { token: string }).token);
  };
  const own = await token(acme.thread);
  expect((await api.call('GET', `/v1/threads/${acme.thread}`, undefined, own)).status).toBe(200);
  const foreign = await token(bolt.thread_id);
  for (const headers of [foreign, auth])
    for (const path of ['', '/events', `/runs/${bolt.run_id}/events`, '/ui-messages'])
      expect(
        await api.call('GET', `/v1/threads/${bolt.thread_id}${path}`, undefined, {
          ...headers,
          accept: 'text/event-stream',
        }),
      ).toMatchObject(problem(404, path.startsWith('/runs') ? 'run_not_found' : 'thread_not_found'));
});

test('the audit shows a tenant its own rows', async () => {
  const { auth } = await mint({ scopes: ['admin'], tenant: 'acme' });
  await api.call('PATCH', `/v1/threads/${acme.thread}/config`, { system_prompt: 'p' }, auth);
  const { body } = await api.call('GET', '/v1/audit', undefined, auth);
  const { data } = body as { data: { tenant_id: string | null }[] };
  expect(data.length).toBeGreaterThan(0);
  expect(data.filter((row) => row.tenant_id !== 'acme')).toEqual([]);
});

test('runs at once are limited for a key and for a tenant, also where requests come together', async () => {
  await api.lanefold.tenants.configure('crew', { limits: { runs: 3 } });
  const one = await mint({ scopes: [...scopes], tenant: 'crew', limits: { runs: 2 } });
  const two = await mint({ scopes: [...scopes], tenant: 'crew' });
  const ask = async (auth: Record<string, string>) => {
    const { body } = await api.call('POST', '/v1/threads', {}, auth);
    const { id } = body as { id: string };
    return api.call('POST', `/v1/threads/${id}/runs`, { agent: 'slow', input: 'x' }, auth);
  };
  const statuses = (answers: Answer[]) => answers.map(({ status }) => status).sort();
  const first = await Promise.all([ask(one.auth), ask(one.auth), ask(one.auth)]);
  expect(statuses(first)).toEqual([202, 202, 429]);
  const refused = first.find(({ status }) => status === 429)!;
  expect(refused).toMatchObject(problem(429, 'rate_limited'));
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(statuses(await Promise.all([ask(two.auth), ask(two.auth)]))).toEqual([202, 429]);
  const { runs } = api.lanefold.forTenant('crew');
  const [run] = (await runs.list()).data;
  await runs.cancel(run!);
  await expect.poll(async () => (await ask(two.auth)).status).toBe(202);
  for (const left of (await runs.list()).data) await runs.cancel(left);
});

test('what the operator reads of a tenant is in the audit, and what it reads without tenants is not', async () => {
  const { id: own } = await api.lanefold.threads.create();
  const reads = async (threadId: string) =>
    (await api.lanefold.audit.list({ threadId, limit: 1_000 })).filter(({ action }) => action === 'listEntries');
  const before = (await reads(acme.thread)).length;
  const { auth } = await mint({ scopes: ['read'] });
  const inside = await mint({ scopes: ['read'], tenant: 'acme' });
  for (const by of [auth, auth, inside.auth])
    for (const thread of [acme.thread, own]) await api.call('GET', `/v1/threads/${thread}/entries`, undefined, by);
  expect((await reads(acme.thread)).slice(before)).toMatchObject([
    { actor: expect.stringMatching(/^key:/), action: 'listEntries', tenantId: 'acme' },
  ]);
  expect(await reads(own)).toEqual([]);
  await api.call('GET', '/v1/threads', undefined, auth);
  const lists = (await api.lanefold.audit.list({ limit: 1_000 })).filter(({ action }) => action === 'listThreads');
  expect(lists.at(-1)).toMatchObject({ tenantId: null, threadId: null });
});

test('a diff of two threads is a read of both, and a fork or rerun is written down, before it is done', async () => {
  const other = await fill('other');
  const actions = async (threadId: string) =>
    (await api.lanefold.audit.list({ threadId, limit: 1_000 })).map(({ action }) => action);
  const { auth } = await mint({ scopes: ['read', 'run'] });
  const lane = `/v1/threads/${acme.thread}/contexts/default`;
  await api.call('GET', `${lane}/diff?other_thread_id=${other.thread}`, undefined, auth);
  expect(await actions(other.thread)).toEqual(['diffContexts']);
  await api.call('POST', `/v1/threads/${other.thread}/fork`, {}, auth);
  await api.call('POST', `/v1/threads/${other.thread}/runs/${other.run}/rerun`, {}, auth);
  expect((await actions(other.thread)).slice(1)).toEqual(['forkThread', 'rerunRun']);

  const bound = await mint({ scopes: ['read'], thread_prefix: acme.thread });
  const refused = await api.call('GET', `${lane}/diff?other_thread_id=${other.thread}`, undefined, bound.auth);
  expect(refused).toMatchObject(problem(403, 'forbidden'));
  expect(await actions(other.thread)).toHaveLength(3);
});
