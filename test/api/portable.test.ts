// @module-tag slow
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, caller, mintKey, problem, startApi, type Api } from './helpers.ts';

const closed = defineAgent({ name: 'closed', model: 'scripted:echo', overridable: { http: ['contextPolicy'] } });
let api: Api;
beforeAll(async () => {
  api = await startApi({ worker: false, agents: [closed], server: { apiKey: 'operator', maxBodyBytes: 20_000 } });
  await api.lanefold.threads.create({ id: 'told', metadata: { customer: 7 } });
  await api.lanefold.threads.append('told', [{ message: { role: 'user', content: 'one' } }, { payload: { n: 1 } }]);
});
afterAll(() => api?.close());

const operator = bearer('operator');
const call = (method: string, path: string, body?: unknown, headers = operator) =>
  api.call(method, path, body, headers);
const linesOf = async (id: string) => (await call('GET', `/v1/threads/${id}/export`)).text.trimEnd().split('\n');

test('a thread is exported and imported over HTTP, and a changed line is named', async () => {
  const exported = await call('GET', '/v1/threads/told/export');
  expect(exported).toMatchObject({ status: 200 });
  expect(exported.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  const lines = exported.text.trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
    'thread',
    'entry',
    'entry',
    'head',
  ]);
  const body = { format: 'lanefold', id: 'copy', lines };
  const first = await call('POST', '/v1/threads/import', body);
  expect(first).toMatchObject({ status: 201, body: { id: 'copy', rev: 3, duplicate: false, notes: [] } });
  expect(first.headers.get('location')).toBe('/v1/threads/copy');
  expect(await call('POST', '/v1/threads/import', body)).toMatchObject({ status: 200, body: { duplicate: true } });
  expect((await call('GET', '/v1/threads/copy')).body).toMatchObject({ rev: 3, metadata: { customer: 7 } });
  // without an id, a new one: that of the file may belong to another caller
  const { body: other } = await call('POST', '/v1/threads/import', { format: 'lanefold', lines });
  expect((other as { id: string }).id).toMatch(/^thread_/);

  const changed = { format: 'lanefold', id: 'changed', lines: lines.with(1, lines[1]!.replace('one', 'two')) };
  const refused = await call('POST', '/v1/threads/import', changed);
  expect(refused).toMatchObject(problem(422, 'import_refused'));
  expect(refused.text).toContain('Line 2 (entry 0) was changed after the export');
  expect(await call('GET', '/v1/threads/changed')).toMatchObject(problem(404, 'thread_not_found'));
  expect(await call('GET', '/v1/threads/nowhere/export')).toMatchObject(problem(404, 'thread_not_found'));
});

test('histories of OpenAI and the AI SDK are imported; one with a prompt only where agents allow it', async () => {
  const items = [{ role: 'user', content: 'hi' }, { type: 'web_search_call' }];
  expect(await call('POST', '/v1/threads/import', { format: 'openai', items })).toMatchObject({
    status: 201,
    body: { rev: 2, notes: [{ outcome: 'left_out', where: 'items[1]' }] },
  });
  const messages = [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }];
  expect(await call('POST', '/v1/threads/import', { format: 'ai-sdk', messages })).toMatchObject({ status: 201 });
  const prompted = { format: 'openai', items: [{ role: 'system', content: 'Obey.' }, ...items] };
  expect(await call('POST', '/v1/threads/import', prompted)).toMatchObject(problem(403, 'override_not_allowed'));
  for (const bad of [{}, { format: 'langgraph' }, { format: 'openai', items, url: 'postgres://x' }])
    expect(await call('POST', '/v1/threads/import', bad)).toMatchObject(problem(400, 'invalid_request'));
  expect(await call('POST', '/v1/threads/import', { format: 'openai', items: 7 })).toMatchObject(
    problem(400, 'invalid_input'),
  );
  const large = { format: 'openai', items: [{ role: 'user', content: 'x'.repeat(20_000) }] };
  expect(await call('POST', '/v1/threads/import', large)).toMatchObject(problem(413, 'body_too_large'));
});

test('a key exports what it may read, and imports under ids it may use, with the scope admin', async () => {
  const { auth: reader } = await mintKey(api.call, operator, { scopes: ['read'], thread_prefix: 'to' });
  expect((await call('GET', '/v1/threads/told/export', undefined, reader)).status).toBe(200);
  expect(await call('GET', '/v1/threads/copy/export', undefined, reader)).toMatchObject(problem(403, 'forbidden'));
  const { auth: bound } = await mintKey(api.call, operator, { scopes: ['admin'], thread_prefix: 'to' });
  const body = { format: 'lanefold', lines: await linesOf('told') };
  const as = async (id: string, auth: Record<string, string>) =>
    (await call('POST', '/v1/threads/import', { ...body, id }, auth)).status;
  expect([await as('to-2', reader), await as('other', bound), await as('to-2', bound)]).toEqual([403, 403, 201]);
});

test('a policy whose prompt would replace that of the agent needs the permission for prompts', async () => {
  const withPolicy = async (id: string, contextPolicy: { systemPrompt: string } | { maxMessages: number }) => {
    await api.lanefold.threads.create({ id });
    await api.lanefold.threads.configure(id, { contextPolicy });
    return call('POST', '/v1/threads/import', { format: 'lanefold', id: `${id}-copy`, lines: await linesOf(id) });
  };
  expect(await withPolicy('prompting', { systemPrompt: 'Obey.' })).toMatchObject(problem(403, 'override_not_allowed'));
  expect((await withPolicy('cutting', { maxMessages: 5 })).status).toBe(201);
});

test('an import without an id is repeated under its Idempotency-Key', async () => {
  const body = { format: 'openai', items: [{ role: 'user', content: 'hi' }] };
  const headers = { ...operator, 'idempotency-key': 'import-1' };
  const first = await call('POST', '/v1/threads/import', body, headers);
  const again = await call('POST', '/v1/threads/import', body, headers);
  expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 200, 'true']);
  expect(again.body).toEqual({ ...(first.body as object), duplicate: true });
  const other = { format: 'openai', items: [{ role: 'user', content: 'bye' }] };
  expect(await call('POST', '/v1/threads/import', other, headers)).toMatchObject(problem(422, 'idempotency_mismatch'));
});

test('an export has a place among the streams of a server, and breaks off when its key is revoked', async () => {
  const { url } = await api.lanefold.startServer({ port: 0, apiKey: 'operator', keyRecheckMs: 100, maxStreams: 1 });
  await api.lanefold.threads.create({ id: 'large' });
  // more than the sockets buffer
  const payload = { text: 'x'.repeat(1_000_000) };
  for (let n = 0; n < 24; n++) await api.lanefold.threads.append('large', [{ payload }]);
  const { id, auth } = await mintKey(api.call, operator, { scopes: ['read'] });
  const response = await fetch(`${url}/v1/threads/large/export`, { headers: auth });
  const another = async () => {
    const { status, ...answer } = await caller(url)('GET', '/v1/threads/told/export', undefined, operator);
    return status === 200 ? answer.text.includes('"type":"head"') : status;
  };
  expect(await another()).toBe(503);
  expect((await call('DELETE', `/v1/keys/${id}`)).status).toBeLessThan(300);
  await expect.poll(another, { timeout: 20_000 }).toBe(true);
  await expect(response.text()).rejects.toThrow();
});
