import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { problem, startApi, type Api } from './helpers.ts';

describe('contexts over HTTP', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi({ worker: false });
  });
  afterAll(() => api?.close());

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
