// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problem, startApi, type Api } from './helpers.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi({ worker: false });
});
afterAll(() => api?.close());

describe('threads over HTTP', () => {
  test('can be created with prompt and metadata, and read', async () => {
    const created = await api.call('POST', '/v1/threads', {
      id: 't-1',
      system_prompt: 'Be brief.',
      metadata: { a: [1] },
    });
    expect(created).toMatchObject({
      status: 201,
      body: { id: 't-1', rev: 1, metadata: { a: [1] }, active_run_id: null },
    });
    expect(created.headers.get('location')).toBe('/v1/threads/t-1');
    const read = await api.call('GET', '/v1/threads/t-1');
    expect(read.body).toEqual(created.body);
    expect(await api.call('POST', '/v1/threads', { id: 't-1' })).toMatchObject(problem(409, 'thread_exists'));
  });

  test('get a generated id without a body', async () => {
    const created = await api.call('POST', '/v1/threads');
    expect(created).toMatchObject({ status: 201, body: { id: expect.stringMatching(/^thread_/), rev: 0 } });
  });

  test('that are missing or erased return 404 or 410 everywhere', async () => {
    await api.call('POST', '/v1/threads', { id: 'gone' });
    await api.lanefold.threads.erase('gone');
    const reads = ['', '/config', '/tools', '/entries', '/contexts', '/contexts/default', '/runs', '/events'];
    for (const path of reads) {
      expect(await api.call('GET', `/v1/threads/nobody${path}`)).toMatchObject(problem(404, 'thread_not_found'));
      expect(await api.call('GET', `/v1/threads/gone${path}`)).toMatchObject(problem(410, 'thread_erased'));
    }
    expect(await api.call('GET', '/v1/threads/nobody/runs/nothing/events')).toMatchObject(
      problem(404, 'run_not_found'),
    );
  });

  test('have a prompt, tools and tool context, readable as of any entry', async () => {
    await api.call('POST', '/v1/threads', { id: 'conf', system_prompt: 'One.' });
    const changed = await api.call('PATCH', '/v1/threads/conf/config', {
      system_prompt: 'Two.',
      tool_context: { tenant: 7 },
      register_tools: ['extra'],
      unregister_tools: ['add'],
    });
    expect(changed).toMatchObject({ status: 200, body: { status: 'applied', first_seq: 1 } });
    const now = {
      system_prompt: 'Two.',
      tools: { added: ['extra'], removed: ['add'] },
      tool_context: { tenant: 7 },
      context_policy: null,
    };
    expect((await api.call('GET', '/v1/threads/conf/config')).body).toEqual(now);
    expect((await api.call('GET', '/v1/threads/conf/config?at_seq=0')).body).toMatchObject({
      system_prompt: 'One.',
      tools: { added: [], removed: [] },
    });
    expect((await api.call('GET', '/v1/threads/conf/tools')).body).toEqual({
      added: ['extra'],
      removed: ['add'],
      known: ['add', 'extra'],
    });
    expect(await api.call('PATCH', '/v1/threads/conf/config', { register_tools: ['nope'] })).toMatchObject(
      problem(422, 'unknown_tool'),
    );
    expect(await api.call('PATCH', '/v1/threads/conf/config', {})).toMatchObject(problem(400, 'invalid_input'));
  });
});

describe('contexts over HTTP', () => {
  const messagesOf = async (path: string) =>
    ((await api.call('GET', path)).body as { messages: { role: string; content: unknown }[] }).messages.map((m) => [
      m.role,
      m.content,
    ]);
  const start = async (id: string) => {
    await api.call('POST', '/v1/threads', { id, system_prompt: 'P' });
    const entries = [{ kind: 'ai_message', payload: { role: 'user', content: 'old' } }];
    await api.call('POST', `/v1/threads/${id}/entries`, { entries });
  };
  const replace = { type: 'replace', result_context: { entries: [{ role: 'user', content: 'new' }] } };

  test('can be replaced, reset and read as of any entry', async () => {
    await start('c-1');
    const receipt = await api.call('POST', '/v1/threads/c-1/context-operations', {
      context_ref: 'default',
      operation: replace,
    });
    expect(receipt).toMatchObject({ status: 200, body: { status: 'applied', op_status: 'applied', seq: 2 } });
    expect(await messagesOf('/v1/threads/c-1/contexts/default')).toEqual([
      ['system', 'P'],
      ['user', 'new'],
    ]);
    const reset = await api.call('POST', '/v1/threads/c-1/contexts/default/reset');
    expect(reset).toMatchObject({ status: 200, body: { status: 'applied', seq: 3 } });
    expect(await messagesOf('/v1/threads/c-1/contexts/default')).toEqual([['system', 'P']]);
    expect(await messagesOf('/v1/threads/c-1/contexts/default?at_seq=2')).toEqual([
      ['system', 'P'],
      ['user', 'new'],
    ]);
    expect(await messagesOf('/v1/threads/c-1/contexts/default?at_seq=1')).toEqual([
      ['system', 'P'],
      ['user', 'old'],
    ]);
    expect((await api.call('GET', '/v1/threads/c-1/contexts')).body).toMatchObject({
      data: [{ context_ref: 'default', anchor_seq: 3, last_seq: 3, open_calls: 0 }],
    });
  });

  test('can be switched', async () => {
    await start('c-2');
    const operation = { type: 'switch', reason: 'manual' };
    await api.call('POST', '/v1/threads/c-2/context-operations', { context_ref: 'side', operation });
    expect((await api.call('GET', '/v1/threads/c-2')).body).toMatchObject({ active_context_ref: 'side' });
  });

  test('apply an operation once per key', async () => {
    await start('c-3');
    const send = (key: string, operation: object) =>
      api.call(
        'POST',
        '/v1/threads/c-3/context-operations',
        { context_ref: 'default', operation },
        { 'Idempotency-Key': key },
      );
    expect(await send('op-1', replace)).toMatchObject({ status: 200, body: { op_id: 'op-1', status: 'applied' } });
    const again = await send('op-1', replace);
    expect(again).toMatchObject({ status: 200, body: { op_id: 'op-1', status: 'duplicate', seq: 2 } });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await send('op-1', { type: 'switch' })).toMatchObject(problem(422, 'idempotency_mismatch'));
    const reset = () => api.call('POST', '/v1/threads/c-3/contexts/default/reset', { op_id: 'op-2' });
    expect([(await reset()).body['status'], (await reset()).body['status']]).toEqual(['applied', 'duplicate']);
  });

  test('change after the active run has ended', async () => {
    await start('c-4');
    await api.call('POST', '/v1/threads/c-4/runs', { agent: 'calc', input: 'x' });
    const deferred = await api.call('POST', '/v1/threads/c-4/contexts/default/reset');
    expect(deferred).toMatchObject({ status: 202, body: { status: 'deferred', op_status: 'pending', seq: null } });
    const config = await api.call('PATCH', '/v1/threads/c-4/config', { system_prompt: 'Q' });
    expect(config).toMatchObject({ status: 202, body: { status: 'deferred', first_seq: null } });
    const entries = [{ kind: 'ai_message', payload: { role: 'user', content: 'x' } }];
    expect(await api.call('POST', '/v1/threads/c-4/entries', { entries })).toMatchObject(problem(409, 'lane_busy'));
  });

  test('reject invalid operations', async () => {
    await start('c-5');
    const send = (operation: object) =>
      api.call('POST', '/v1/threads/c-5/context-operations', { context_ref: 'default', operation });
    expect(await send({ type: 'forget' })).toMatchObject(problem(400, 'invalid_request'));
    expect(await send({ type: 'switch', result_context: { entries: [] } })).toMatchObject(
      problem(400, 'invalid_request'),
    );
    const open = [{ role: 'tool', content: 'x', tool_call_id: 'nobody' }];
    expect(await send({ type: 'replace', result_context: { entries: open } })).toMatchObject(
      problem(422, 'open_tool_group'),
    );
    expect((await api.call('GET', '/v1/threads/c-5')).body).toMatchObject({ rev: 2 });
  });
});

describe('erasure over HTTP', () => {
  test('removes a thread for good and reports it', async () => {
    await api.call('POST', '/v1/threads', { id: 'e-1', tenant_id: 'acme', system_prompt: 'P' });
    expect(await api.call('DELETE', '/v1/threads/e-1')).toMatchObject({
      status: 200,
      body: {
        thread_id: 'e-1',
        tenant_id: 'acme',
        removed: { threads: 1, entries: 1, tool_calls: 0 },
        left: expect.any(Array),
      },
    });
    expect(await api.call('DELETE', '/v1/threads/e-1')).toMatchObject(problem(410, 'thread_erased'));
    expect(await api.call('GET', '/v1/threads/e-1')).toMatchObject(problem(410, 'thread_erased'));
    expect(await api.call('DELETE', '/v1/threads/never')).toMatchObject(problem(404, 'thread_not_found'));
  });

  test('refuses a thread with an active run, and keeps it when its tenant is erased', async () => {
    await api.call('POST', '/v1/threads', { id: 'e-2', tenant_id: 'busy' });
    await api.call('POST', '/v1/threads', { id: 'e-3', tenant_id: 'busy' });
    await api.call('POST', '/v1/threads/e-2/runs', { agent: 'calc', input: 'x' });
    expect(await api.call('DELETE', '/v1/threads/e-2')).toMatchObject(problem(409, 'thread_busy'));
    expect((await api.call('DELETE', '/v1/tenants/busy/threads?limit=10')).body).toMatchObject({
      tenant_id: 'busy',
      busy: ['e-2'],
      more: false,
      removed: { threads: 1 },
    });
    expect((await api.call('DELETE', '/v1/tenants/busy/threads?limit=0')).status).toBe(400);
  });
});

describe('refs and metadata over HTTP', () => {
  beforeAll(async () => {
    await api.call('POST', '/v1/threads', { id: 't' });
    await api.call('POST', '/v1/threads/t/runs', { agent: 'calc', input: 'go' });
  });

  const large = { mine: 'x'.repeat(2 ** 16) };
  test.each([
    ['/v1/threads', { id: 'other', metadata: large }],
    ['/v1/threads/t/fork', { metadata: large }],
    ['/v1/threads/t/entries', { entries: [{ kind: 'note', payload: {}, refs: large }] }],
    ['/v1/threads/t/runs', { agent: 'calc', input: 'x', busy: 'wait', extra_refs: large }],
    ['/v1/threads/new/runs', { agent: 'calc', input: 'x', create_thread: true, extra_refs: large }],
    ['/v1/threads/t/runs/active/steer', { content: 'x', extra_refs: large }],
    ['/v1/threads/t/runs/active/inject', { content: 'x', extra_refs: large }],
  ])('POST %s refuses more than 64 KiB and writes nothing', async (path, body) => {
    const [run] = (await api.lanefold.runs.list({ threadId: 't' })).data;
    const before = await api.call('GET', '/v1/threads/t');
    const answer = await api.call('POST', path.replace('/active/', `/${run!.id}/`), body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
    expect(answer.text).toContain('65536');
    expect((await api.call('GET', '/v1/threads/t')).body).toEqual(before.body);
    expect((await api.call('GET', '/v1/threads/new')).status).toBe(404);
    expect((await api.call('GET', '/v1/threads/other')).status).toBe(404);
  });
});
