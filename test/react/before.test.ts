// @module-tag slow
// Pages that are opened before their thread or run exists: stores on a real server, with browser tokens.
import { defineAgent, defineTool, type BrowserAccess } from 'lanefold';
import { createClient } from 'lanefold/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { runStore, threadStore } from '../../src/doors/react/stores.ts';
import { startApi, type Api } from '../api/helpers.ts';
import { typedModel } from '../support/typed-model.ts';
import { deferred } from '../support/until.ts';

const refund = defineTool({ name: 'refund', input: z.object({}), needsApproval: true, execute: () => 'refunded' });
const model = typedModel();

let api: Api;
beforeAll(async () => {
  api = await startApi({
    agents: [
      defineAgent({ name: 'echo', model: 'scripted:echo' }),
      defineAgent({ name: 'writer', model: 'typed:m', tools: [refund] }),
    ],
    models: { typed: () => model },
    tokenSecrets: ['secret'],
    server: { apiKey: 'root' },
  });
});
afterAll(() => api?.close());

interface Request {
  path: string;
  signal: AbortSignal | null | undefined;
  answered?: true;
}

/** A client of a page, and what it requests. */
function clientFor(threadId: string, { access = 'approve', livesMs = () => 600_000 } = {} as PageOptions) {
  const requests: Request[] = [];
  const client = createClient({
    url: api.url,
    retryDelayMs: 20,
    getToken: () => api.lanefold.keys.browserToken({ threadId, access, expiresInMs: livesMs() }).token,
    fetch: async (url, init) => {
      const request: Request = { path: String(url).slice(api.url.length), signal: init?.signal };
      requests.push(request);
      const answer = await fetch(url, init);
      request.answered = true;
      return answer;
    },
  });
  return { client, requests, waits: () => requests.filter(({ path }) => path.includes('wait=true')) };
}
interface PageOptions {
  access?: BrowserAccess;
  livesMs?: () => number;
}

/** A page of a thread; each has a client of its own, as two tabs do. */
function openThread(threadId: string, options?: PageOptions) {
  const own = clientFor(threadId, options);
  const store = threadStore(own.client, threadId);
  const statuses: string[] = [];
  const close = store.subscribe(() => void statuses.push(store.state().status));
  const texts = () => store.state().messages.flatMap(({ parts }) => parts.flatMap(({ text }) => text ?? []));
  return { ...own, store, statuses, close, texts };
}

/** A page that waits for its thread. */
async function openBefore(threadId: string, options?: PageOptions) {
  const page = openThread(threadId, options);
  await expect.poll(() => page.waits().length).toBeGreaterThan(0);
  expect(page.store.state()).toMatchObject({ exists: false, status: 'ready', messages: [], error: undefined });
  return page;
}

const creators: [string, (threadId: string, page: ReturnType<typeof openThread>) => Promise<unknown>][] = [
  ['the page itself', (_, page) => page.store.send('echo', 'Hello?')],
  [
    'another tab',
    async (threadId) => {
      const other = openThread(threadId);
      await other.store.send('echo', 'Hello?');
      other.close();
    },
  ],
  [
    'the backend',
    (threadId) => api.lanefold.runs.enqueue({ agent: 'echo', input: 'Hello?', threadId, createThread: true }),
  ],
];

test.each(creators)('a thread that %s creates is followed by a page opened before it', async (creator, create) => {
  const threadId = `by:${creator.replaceAll(' ', '-')}`;
  const page = await openBefore(threadId);
  await create(threadId, page);
  await expect.poll(page.texts).toEqual(['Hello?', 'Hello?']);
  await expect.poll(() => page.store.state().status).toBe('ready');
  expect(page.store.state()).toMatchObject({ exists: true, error: undefined });
  // not ready, and busy again, in the middle of it; the run of others may be over before it is read
  const phases = page.statuses.filter((status, i) => status !== page.statuses[i - 1]).join(' ');
  expect(creator === 'the page itself' ? [''] : ['', 'ready']).toContain(phases.replace('ready busy ready', ''));
  // and on: the next question of others
  await api.lanefold.runs.enqueue({ agent: 'echo', input: 'More?', threadId });
  await expect.poll(page.texts).toEqual(['Hello?', 'Hello?', 'More?', 'More?']);
  page.close();
});

test('a thread without a run is followed, too', async () => {
  const page = await openBefore('quiet');
  await api.lanefold.threads.create({ id: 'quiet' });
  await expect.poll(() => page.store.state()).toMatchObject({ exists: true, status: 'ready' });
  await api.lanefold.runs.enqueue({ agent: 'echo', input: 'Hello?', threadId: 'quiet' });
  await expect.poll(page.texts).toEqual(['Hello?', 'Hello?']);
  page.close();
});

test('approvals of a thread that does not exist yet appear', async () => {
  const page = await openBefore('approvals');
  await api.lanefold.runs.enqueue({ agent: 'writer', input: 'Refund.', threadId: 'approvals', createThread: true });
  (await model.next()).stop({ id: 'a', name: 'refund' });
  await expect.poll(() => page.store.state().approvals.map(({ name }) => name)).toEqual(['refund']);
  await page.store.approve(page.store.state().approvals[0]!);
  (await model.next()).stop();
  await expect.poll(() => page.store.state().status).toBe('ready');
  page.close();
});

test('a run that is not committed yet is missing, and followed to its end once it is', async () => {
  const database = await api.lanefold.database.pool.connect();
  await database.query('begin');
  const request = { agent: 'writer', input: 'Write.', threadId: 'committed-late', createThread: true };
  const run = await api.lanefold.runs.enqueue(request, { tx: database });
  const { client, waits } = clientFor(run.threadId);
  const store = runStore(client, run);
  const close = store.subscribe(() => {});
  await expect.poll(() => waits().length).toBe(1);
  expect(store.state()).toMatchObject({ run: undefined, error: { code: 'run_not_found' } });
  await database.query('commit');
  database.release();
  const keys = await model.next();
  keys.type('Half');
  await expect.poll(() => store.state()).toMatchObject({ text: 'Half', error: undefined });
  keys.stop();
  await expect.poll(() => store.state().run).toMatchObject({ status: 'completed', result: 'Half' });
  close();
});

test('a thread that is erased leaves the page, which says so; a page opened before it as well', async () => {
  const before = await openBefore('erased');
  await before.store.send('echo', 'Hello?');
  await expect.poll(before.texts).toEqual(['Hello?', 'Hello?']);
  await api.lanefold.threads.erase('erased');
  const gone = { exists: false, status: 'ready', messages: [], run: undefined, error: { code: 'thread_erased' } };
  await expect.poll(() => before.store.state()).toMatchObject(gone);
  const after = openThread('erased');
  await expect.poll(() => after.store.state()).toMatchObject(gone);
  // no page can create it again
  await expect(after.store.send('echo', 'Again?')).rejects.toMatchObject({ code: 'thread_erased' });
  expect(after.texts()).toEqual([]);
  before.close();
  after.close();
});

test('a run that is erased leaves the page, which says so', async () => {
  const run = await api.lanefold.runs.enqueue({
    agent: 'echo',
    input: 'Hello?',
    threadId: 'run-erased',
    createThread: true,
  });
  await api.lanefold.runs.wait(run);
  const { client } = clientFor(run.threadId);
  const store = runStore(client, run);
  const close = store.subscribe(() => {});
  await expect.poll(() => store.state().run?.status).toBe('completed');
  close();
  await api.lanefold.threads.erase(run.threadId);
  const leave = store.subscribe(() => {});
  await expect.poll(() => store.state()).toMatchObject({ run: undefined, text: '', error: { code: 'thread_erased' } });
  leave();
});

test('a page keeps waiting after its token has expired', async () => {
  let tokens = 0;
  const page = openThread('expiring', { livesMs: () => ((tokens += 1) < 3 ? 1_000 : 600_000) });
  await expect.poll(() => tokens).toBe(3);
  await expect.poll(() => page.store.state().exists).toBe(false);
  await api.lanefold.runs.enqueue({ agent: 'echo', input: 'Hello?', threadId: 'expiring', createThread: true });
  await expect.poll(page.texts).toEqual(['Hello?', 'Hello?']);
  page.close();
});

test('a page may watch only the thread of its token, and learns nothing of others', async () => {
  const { client } = clientFor('mine');
  for (const threadId of ['quiet', 'no-such-thread']) {
    const store = threadStore(client, threadId);
    const close = store.subscribe(() => {});
    await expect.poll(() => store.state()).toMatchObject({ exists: undefined, error: { code: 'forbidden' } });
    close();
  }
});

test('waiting takes one request, which ends with the last component', async () => {
  const page = await openBefore('left');
  const second = page.store.subscribe(() => {});
  page.close();
  expect(page.waits().map(({ signal }) => signal?.aborted)).toEqual([false]);
  // as StrictMode does: away, and back at once
  second();
  const third = page.store.subscribe(() => {});
  await expect.poll(() => page.waits().map(({ signal }) => signal?.aborted)).toEqual([true, false]);
  expect(page.requests.map(({ path }) => path.replace(/\?.*/, ''))).toEqual(
    Array(2).fill(['/v1/threads/left', '/v1/threads/left/events']).flat(),
  );
  third();
  expect(page.waits().map(({ signal }) => signal?.aborted)).toEqual([true, true]);
});

test('a page that has left its thread while that was loading shows nothing of it', async () => {
  const release = deferred();
  const own = clientFor('slow');
  const client = createClient({
    url: api.url,
    getToken: () => api.lanefold.keys.browserToken({ threadId: 'slow', access: 'read' }).token,
    fetch: async (url, init) => {
      const answer = await fetch(url, init);
      await release.promise;
      return answer;
    },
  });
  const store = threadStore(client, 'slow');
  const states = new Set<unknown>();
  store.subscribe(() => states.add(store.state()))();
  release.resolve();
  const other = threadStore(own.client, 'slow');
  const close = other.subscribe(() => {});
  await expect.poll(() => own.waits().length).toBe(1);
  expect(states.size).toBe(0);
  expect(store.state().status).toBe('loading');
  close();
});

test('a stream waits for its thread, and ends with it', async () => {
  const { client } = clientFor('streamed');
  const kinds: string[] = [];
  const read = (async () => {
    for await (const item of client.threads.stream('streamed', { wait: true }))
      kinds.push(item.type === 'event' ? item.event.kind : item.type);
  })();
  await api.lanefold.runs.enqueue({ agent: 'echo', input: 'Hello?', threadId: 'streamed', createThread: true });
  await expect.poll(() => kinds).toContain('request_completed');
  await api.lanefold.threads.erase('streamed');
  await read;
  expect(kinds[0]).toBe('exists');
  expect(kinds.filter((kind) => kind === 'exists')).toHaveLength(1);
});

test('the stream of a thread without events ends when it is erased', async () => {
  const { client, requests } = clientFor('no-events');
  await api.lanefold.threads.create({ id: 'no-events' });
  const read = (async () => {
    for await (const item of client.threads.stream('no-events')) expect(item).toBeUndefined();
  })();
  await expect.poll(() => requests.map(({ answered }) => answered)).toEqual([true]);
  await api.lanefold.threads.erase('no-events');
  await read;
});
