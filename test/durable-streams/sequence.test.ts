import { afterAll, beforeAll, expect, test } from 'vitest';
import { problem, startApi, type Api } from '../api/helpers.ts';

let api: Api;
beforeAll(async () => void (api = await startApi({ tokenSecrets: ['a secret of at least thirty-two bytes'] })));
afterAll(() => api?.close());

test('the numbers that a writer gives its appends only rise, also over appends without one', async () => {
  const path = '/v1/stream/numbered';
  const text = { 'content-type': 'text/plain' };
  expect((await api.call('PUT', path, undefined, text)).status).toBe(201);
  const append = (data: string, seq?: string) =>
    api.call('POST', path, data, { ...text, ...(seq === undefined ? {} : { 'stream-seq': seq }) });
  expect((await append('a', '2')).status).toBe(204);
  expect((await append('b')).status).toBe(204);
  for (const seq of ['1', '2']) expect(await append('x', seq)).toMatchObject(problem(409, 'stream_conflict'));
  expect((await append('c', '3')).status).toBe(204);
  expect((await api.call('GET', path)).text).toBe('abc');
});
