import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearer, mintKey, problem, startApi, type Api } from './helpers.ts';

describe('cases over HTTP', () => {
  let api: Api;
  let run: string;
  const root = bearer('root');
  beforeAll(async () => {
    const agents = [defineAgent({ name: 'echo', model: 'scripted:echo' })];
    api = await startApi({ agents, server: { apiKey: 'root' } });
    const asked = await api.lanefold.runs.enqueue({ agent: 'echo', input: 'Hi', threadId: 'one', createThread: true });
    ({ id: run } = await api.lanefold.runs.wait(asked));
  });
  afterAll(() => api?.close());

  test('are kept, listed, changed and removed', async () => {
    const given = { thread_id: 'one', run_id: run, dataset: 'greetings', expected: { contains: ['Hi'] }, tags: ['a'] };
    const kept = await api.call('POST', '/v1/cases', given, root);
    expect(kept).toMatchObject({ status: 201, body: { ...given, kind: 'run', kept_by: 'operator', erased_at: null } });
    const { id } = kept.body as { id: string };
    expect(await api.call('POST', '/v1/cases', given, root)).toMatchObject(problem(409, 'case_exists'));
    expect((await api.call('GET', '/v1/cases?dataset=greetings&tag=a', undefined, root)).body).toEqual({
      data: [kept.body],
      next_after: null,
    });
    expect((await api.call('GET', '/v1/datasets', undefined, root)).body).toMatchObject({
      data: [{ dataset: 'greetings', cases: 1, erased: 0 }],
    });
    const changes = { expected: { answer: 'Hi' }, note: 'n' };
    expect((await api.call('PATCH', `/v1/cases/${id}`, changes, root)).body).toMatchObject({ id, ...changes });
    expect((await api.call('GET', `/v1/cases/${id}`, undefined, root)).body).toMatchObject({ id, ...changes });
    expect((await api.call('DELETE', `/v1/cases/${id}`, undefined, root)).status).toBe(204);
    expect(await api.call('GET', `/v1/cases/${id}`, undefined, root)).toMatchObject(problem(404, 'case_not_found'));
  });

  test('belong to a tenant, and need admin to be changed', async () => {
    const given = { thread_id: 'one', run_id: run, dataset: 'own' };
    const kept = await api.call('POST', '/v1/cases', given, root);
    const { id } = kept.body as { id: string };
    const { auth: acme } = await mintKey(api.call, root, { scopes: ['admin', 'read'], tenant: 'acme' });
    const { auth: reader } = await mintKey(api.call, root, { scopes: ['read'] });
    expect((await api.call('GET', '/v1/cases', undefined, acme)).body).toEqual({ data: [], next_after: null });
    for (const [method, path, body] of [
      ['GET', `/v1/cases/${id}`, undefined],
      ['PATCH', `/v1/cases/${id}`, { note: 'x' }],
      ['DELETE', `/v1/cases/${id}`, undefined],
    ] as const)
      expect(await api.call(method, path, body, acme)).toMatchObject(problem(404, 'case_not_found'));
    expect(await api.call('POST', '/v1/cases', given, acme)).toMatchObject(problem(404, 'thread_not_found'));
    expect(await api.call('DELETE', `/v1/cases/${id}`, undefined, reader)).toMatchObject(problem(403, 'forbidden'));
    expect((await api.call('GET', `/v1/cases/${id}`, undefined, root)).body).toEqual(kept.body);
  });
});
