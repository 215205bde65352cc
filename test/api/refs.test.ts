import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApi, type Api } from './helpers.ts';

describe('refs and metadata over HTTP', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi({ worker: false });
    await api.call('POST', '/v1/threads', { id: 't' });
    await api.call('POST', '/v1/threads/t/runs', { agent: 'calc', input: 'go' });
  });
  afterAll(() => api?.close());

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
