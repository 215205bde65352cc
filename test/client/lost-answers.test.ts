import { createClient } from 'lanefold/client';
import { expect, test } from 'vitest';

/** A client of a server that does what it is asked to, and loses its first answer. */
function losing() {
  const asked: string[] = [];
  const fetch = (url: unknown, { method = 'GET' }: RequestInit = {}) => {
    asked.push(`${method} ${String(url).replace('http://own', '')}`);
    if (asked.length === 1) return Promise.reject(new TypeError('fetch failed'));
    if (method === 'GET') return Promise.resolve(Response.json({ id: String(url).split('/').at(-1) }));
    // the parent has grown in between, so that it is another fork
    const problem = { code: 'thread_exists', status: 409, title: '', detail: 'It exists.', hint: '' };
    return Promise.resolve(Response.json(problem, { status: 409 }));
  };
  return { asked, client: createClient({ url: 'http://own', fetch, retryDelayMs: 0 }) };
}

test('a fork whose answer is lost is the thread that it has made', async () => {
  const { asked, client } = losing();
  const { id } = await client.threads.fork('parent');
  expect(asked).toEqual([...Array<string>(2).fill('POST /v1/threads/parent/fork'), `GET /v1/threads/${id}`]);
});

test('with an id of the caller, it may be a thread of something else', async () => {
  await expect(losing().client.threads.fork('parent', { id: 'mine' })).rejects.toMatchObject({ code: 'thread_exists' });
});
