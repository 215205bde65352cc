import { afterAll, beforeAll, expect, test } from 'vitest';
import { problem, startApi, type Api } from './helpers.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi({ server: { apiKey: 'operator' } });
});
afterAll(() => api?.close());

const operator = { authorization: 'Bearer operator' };
const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = operator) =>
  api.call(method, path, body, headers);

async function asked(id: string) {
  const input = { agent: 'calc', input: 'first', create_thread: true };
  const { body } = await call('POST', `/v1/threads/${id}/runs`, input);
  const run = { threadId: id, id: (body as { id: string }).id };
  await api.lanefold.runs.wait(run);
  return run;
}

test('threads are forked, questions asked again and contexts compared over HTTP', async () => {
  const run = await asked('f-1');
  const fork = await call('POST', '/v1/threads/f-1/fork', { id: 'f-1b', at_seq: 0, metadata: { n: 1 } });
  expect(fork).toMatchObject({
    status: 201,
    body: { id: 'f-1b', parent_thread_id: 'f-1', fork_seq: 0, metadata: { n: 1 } },
  });
  expect(fork.headers.get('location')).toBe('/v1/threads/f-1b');
  const again = { thread_id: 'f-1c', system_prompt: 'Be brief.', context_policy: { max_messages: 4 } };
  const rerun = await call('POST', `/v1/threads/f-1/runs/${run.id}/rerun`, again, {
    ...operator,
    'Idempotency-Key': 'k',
  });
  expect(rerun).toMatchObject({ status: 202, body: { thread_id: 'f-1c', request_id: 'k', duplicate: false } });
  await api.lanefold.runs.wait({ threadId: 'f-1c', id: (rerun.body as { id: string }).id });
  const diff = await call('GET', '/v1/threads/f-1/contexts/default/diff?other_thread_id=f-1c');
  expect((diff.body as { data: { change: string; role: string }[] }).data.map((row) => [row.change, row.role])).toEqual(
    [
      ['added', 'system'],
      ['same', 'user'],
      ['same', 'assistant'],
    ],
  );
});

test('what a fork may not be is a problem', async () => {
  await asked('f-2');
  expect(await call('POST', '/v1/threads/f-2/fork', { at_seq: 99 })).toMatchObject(problem(400, 'invalid_input'));
  expect(await call('POST', '/v1/threads/none/fork', {})).toMatchObject(problem(404, 'thread_not_found'));
  expect(await call('POST', '/v1/threads/f-2/fork', { id: 'f-2' })).toMatchObject(problem(409, 'thread_exists'));
  expect(await call('POST', '/v1/threads/f-2/fork', { at: 1 })).toMatchObject(problem(400, 'invalid_request'));
});

test('a key forks into, asks again on and compares with threads it may use, and no others', async () => {
  const run = await asked('mine-1');
  await asked('theirs-1');
  const { key } = await api.lanefold.keys.create({ name: 'k', scopes: ['read', 'run'], threadPrefix: 'mine-' });
  const as = { authorization: `Bearer ${key}` };
  for (const [method, path, body] of [
    ['POST', '/v1/threads/mine-1/fork', {}],
    ['POST', '/v1/threads/mine-1/fork', { id: 'theirs-2' }],
    ['POST', '/v1/threads/theirs-1/fork', { id: 'mine-2' }],
    ['POST', `/v1/threads/mine-1/runs/${run.id}/rerun`, {}],
    ['POST', `/v1/threads/mine-1/runs/${run.id}/rerun`, { thread_id: 'theirs-2' }],
    ['GET', '/v1/threads/mine-1/contexts/default/diff?other_thread_id=theirs-1', undefined],
  ] as const) {
    expect(await call(method, path, body, as)).toMatchObject(problem(403, 'forbidden'));
  }
  expect((await call('POST', '/v1/threads/mine-1/fork', { id: 'mine-2' }, as)).status).toBe(201);
  expect((await call('POST', `/v1/threads/mine-1/runs/${run.id}/rerun`, { thread_id: 'mine-3' }, as)).status).toBe(202);
});
