import { afterAll, beforeAll, expect, test } from 'vitest';
import { cli } from '../cli/cli.ts';
import { problem, startApi, type Api } from './helpers.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

test('a lane is compacted over HTTP and from the command line', async () => {
  const { lanefold } = api;
  const script = `scripted:${JSON.stringify(['an answer '.repeat(40), 'In short.'])}`;
  const ask = { agent: 'calc', threadId: 'c', createThread: true };
  await lanefold.runs.wait(await lanefold.runs.enqueue({ ...ask, model: script, input: 'one' }));
  await lanefold.runs.wait(await lanefold.runs.enqueue({ ...ask, input: 'two' }));
  const path = '/v1/threads/c/compact';
  const answer = await api.call('POST', path, { keep_turns: 1, range: { from_seq: 0, to_seq: 1 } });
  expect(answer).toMatchObject({ status: 202, body: { thread_id: 'c', duplicate: false } });
  expect(answer.headers.get('location')).toMatch(/^\/v1\/threads\/c\/runs\/run_/);
  const { id } = answer.body as { id: string };
  const ended = await lanefold.runs.wait({ threadId: 'c', id });
  expect(['completed', 'failed']).toContain(ended.status);
  expect(ended).toMatchObject({ strategy: 'compaction', agent: 'calc' });
  expect(await api.call('POST', path, { range: { from_seq: 2, to_seq: 1 } })).toMatchObject(
    problem(400, 'invalid_input'),
  );
  expect(await api.call('POST', '/v1/threads/none/compact', {})).toMatchObject(problem(404, 'thread_not_found'));
  const env = { DATABASE_URL: lanefold.databaseUrl, REDIS_URL: '' };
  const again = await cli(['compact', 'c', '--keep-turns', '9', '--json'], { env });
  expect(JSON.parse(again.stdout)).toMatchObject({ thread_id: 'c' });
  expect((await cli(['compact', 'c', '--from', '1'], { env })).code).toBe(2);
});
