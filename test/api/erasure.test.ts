import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problem, startApi, type Api } from './helpers.ts';

describe('erasure over HTTP', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi({ worker: false });
  });
  afterAll(() => api?.close());

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
      ...{ tenant_id: 'busy', busy: ['e-2'], more: false },
      removed: { threads: 1 },
    });
    expect((await api.call('DELETE', '/v1/tenants/busy/threads?limit=0')).status).toBe(400);
  });
});
