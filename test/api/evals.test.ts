// @module-tag slow
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { bearer, mintKey, problem, startApi, type Api } from './helpers.ts';

describe('evals over HTTP', () => {
  let api: Api;
  const root = bearer('root');
  beforeAll(async () => {
    const agents = [defineAgent({ name: 'echo', model: 'scripted:echo', overridable: { http: ['contextPolicy'] } })];
    api = await startApi({ agents, server: { apiKey: 'root' } });
    const asked = await api.lanefold.runs.enqueue({ agent: 'echo', input: 'Hi', threadId: 'one', createThread: true });
    const { id: runId } = await api.lanefold.runs.wait(asked);
    await api.lanefold.cases.keep({ threadId: 'one', runId, dataset: 'd', expected: { contains: ['Hi'] } });
  });
  afterAll(() => api?.close());
  const call = (method: string, path: string, body?: unknown, auth = root) =>
    api.call(method, `/v1/evals${path}`, body, auth);

  test('run, are listed with their items and report, scored again and removed', async () => {
    const variants = [{ name: 'current' }, { name: 'short', context_policy: 'short_context' }];
    const started = await call('POST', '', { dataset: 'd', variants, max_duration_ms: 60_000 });
    expect(started).toMatchObject({
      status: 202,
      body: { dataset: 'd', spec: { variants, max_duration_ms: 60_000, tools: 'recorded' }, created_by: 'operator' },
    });
    const { id } = started.body as { id: string };
    await api.lanefold.evals.wait(id);
    const done = { id, status: 'completed', items: { done: 2, waiting: 0, failed: 0 } };
    expect((await call('GET', `/${id}`)).body).toMatchObject(done);
    expect((await call('GET', '?limit=1')).body).toMatchObject({ data: [done], next_after: null });
    expect((await call('GET', `/${id}/items?limit=1`)).body).toMatchObject({
      data: [{ no: 1, variant: 'current', status: 'done', scores: [{ scorer: 'contains', score: 1 }] }],
      next_after: 1,
    });
    const [first] = await api.lanefold.evals.items(id, { limit: 1 });
    const { caseId } = first!;
    const countOf = async (one: string) =>
      ((await call('GET', `/${id}/items?case_id=${one}`)).body as { data: unknown[] }).data.length;
    expect([await countOf(caseId), await countOf('none')]).toEqual([2, 0]);
    expect((await call('GET', `/${id}/report?baseline=short`)).body).toMatchObject({
      format: 1,
      baseline: 'short',
      variants: [{ variant: 'short', pass_rate: 1 }, { variant: 'current' }],
    });
    expect((await call('GET', `/${id}/report?baseline=none`)).status).toBe(400);
    expect(await call('POST', `/${id}/stop`)).toMatchObject(problem(409, 'eval_ended'));
    expect((await call('POST', `/${id}/rescore`)).body).toMatchObject({ id });
    await api.lanefold.evals.wait(id);
    const { auth: acme } = await mintKey(api.call, root, { scopes: ['admin', 'read'], tenant: 'acme' });
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/items'],
      ['GET', '/report'],
      ['POST', '/stop'],
      ['POST', '/rescore'],
      ['DELETE', ''],
    ] as const)
      expect(await call(method, `/${id}${path}`, undefined, acme)).toMatchObject(problem(404, 'eval_not_found'));
    expect(await call('POST', '', { dataset: 'd' }, acme)).toMatchObject(problem(404, 'dataset_empty'));
    expect((await call('DELETE', `/${id}`)).status).toBe(204);
    expect(await call('GET', `/${id}`)).toMatchObject(problem(404, 'eval_not_found'));
  });

  test('that ask for what is not allowed are refused', async () => {
    expect(await call('POST', '', { dataset: 'd', variants: [{ model: 'scripted:demo' }] })).toMatchObject(
      problem(403, 'override_not_allowed'),
    );
    expect(await call('POST', '', { dataset: 'd', variants: [{ agent: 'none' }] })).toMatchObject(
      problem(422, 'unknown_agent'),
    );
    for (const wrong of [
      { repeats: 0 },
      { tools: 'stubs' },
      { variants: [] },
      { variants: [{}, {}] },
      { concurrency: 1_000 },
      { max_cost: -1 },
      { more: 1 },
    ])
      expect((await call('POST', '', { dataset: 'd', ...wrong })).status, JSON.stringify(wrong)).toBe(400);
  });
});
