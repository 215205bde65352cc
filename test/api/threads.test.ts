import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { problem, startApi, type Api } from './helpers.ts';

describe('threads over HTTP', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi({ worker: false });
  });
  afterAll(() => api?.close());

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
