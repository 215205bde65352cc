import { createClient } from 'lanefold/client';
import { expect, test } from 'vitest';
import { threadStore } from '../../src/react/stores.ts';

/** A server of one thread that says what a test makes it say. */
function serverOf() {
  const thread = { id: 't', active_run_id: null as string | null, event_rev: 1 };
  const said = { messages: [] as object[], runs: new Map<string, object>() };
  const asked: { request_id: string }[] = [];
  const faults = { read: 0, ask: 0 };
  const held = { read: Promise.resolve(), ask: Promise.resolve() };
  const cancelled: string[] = [];
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  let onRead = () => {};
  const answer = (path: string): unknown => {
    if (path === '/v1/threads/t') return thread;
    if (path.startsWith('/v1/threads/t/ui-messages')) return { data: said.messages, next_after: null };
    return said.runs.get(path.split('/').at(-1)!);
  };
  const fetch = async (url: unknown, init: RequestInit = {}) => {
    const path = String(url).replace('http://own', '');
    if (path.startsWith('/v1/threads/t/events')) {
      const body = new ReadableStream<Uint8Array>({ start: (own) => void (stream = own) });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    }
    if (path.endsWith('/cancel')) {
      cancelled.push(path);
      return Response.json({});
    }
    if (init.method === 'POST') {
      asked.push(JSON.parse(init.body as string) as { request_id: string });
      await held.ask;
      if (faults.ask-- > 0) throw new TypeError('fetch failed');
      return Response.json({ id: 'run_2', thread_id: 't', status: 'queued', duplicate: false });
    }
    await held.read;
    if (path.includes('ui-messages') && faults.read-- > 0) return problem;
    const response = Response.json(answer(path));
    if (path.includes('ui-messages')) onRead();
    return response;
  };
  let problem = Response.json({});
  const store = threadStore(createClient({ url: 'http://own', fetch, maxRetries: 0, retryDelayMs: 0 }), 't');
  return {
    ...{ thread, said, asked, faults, cancelled, store, open: () => stream !== undefined },
    /** Keeps the answers to such requests until the returned function is called. */
    hold(requests: keyof typeof held): () => void {
      let release!: () => void;
      held[requests] = new Promise((resolve) => (release = resolve));
      return release;
    },
    /** Calls it after each answer with messages. */
    afterMessages: (act: () => void) => (onRead = act),
    refuse: (status: number, code: string) =>
      (problem = Response.json({ code, status, title: code, detail: code, hint: '' }, { status })),
    send: (data: Record<string, unknown>, event = String(data['kind'] ?? 'event')) =>
      stream!.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)),
    run: (id: string, status: string, finished_at: string | null) =>
      said.runs.set(id, { id, thread_id: 't', agent: 'a', status, finished_at, awaiting: [] }),
  };
}

const textsOf = (store: ReturnType<typeof serverOf>['store']) =>
  store.state().messages.flatMap(({ parts }) => parts.map((part) => (part as { text?: string }).text));

test('a thread shows its active run, whichever run has had the last event', async () => {
  const server = serverOf();
  const stop = server.store.subscribe(() => {});
  await expect.poll(server.open).toBe(true);
  server.thread.active_run_id = 'run_1';
  server.run('run_1', 'running', null);
  server.run('run_2', 'failed', '2026-01-01T00:00:00Z');
  server.send({ event_seq: 1, kind: 'request_failed', run_id: 'run_2', data: {} });
  await expect.poll(() => server.store.state().run?.id).toBe('run_1');
  expect(server.store.state().status).toBe('busy');
  stop();
});

test('what a run has not completed leaves the thread with its end', async () => {
  const server = serverOf();
  server.thread.active_run_id = 'run_1';
  server.run('run_1', 'running', null);
  const stop = server.store.subscribe(() => {});
  await expect.poll(server.open).toBe(true);
  server.send({ run_id: 'run_1', llm_call_id: 'run_1.1', offset: 0, text: 'Half' }, 'llm_delta');
  await expect.poll(() => textsOf(server.store)).toEqual(['Half']);
  // another one is active by the time that the end is read
  server.thread.active_run_id = 'run_2';
  server.run('run_2', 'running', null);
  server.send({ event_seq: 1, kind: 'request_cancelled', run_id: 'run_1', data: {} });
  await expect.poll(() => server.store.state().run?.id).toBe('run_2');
  expect(textsOf(server.store)).toEqual([]);
  stop();
});

test('a thread whose run ends while it is read is not ready without its answer', async () => {
  const server = serverOf();
  server.thread.active_run_id = 'run_1';
  server.run('run_1', 'running', null);
  const ready: unknown[] = [];
  const stop = server.store.subscribe(() => {
    if (server.store.state().status === 'ready') ready.push(textsOf(server.store));
  });
  await expect.poll(server.open).toBe(true);
  server.afterMessages(() => {
    server.thread.active_run_id = null;
    server.run('run_1', 'completed', '2026-01-01T00:00:00Z');
    server.said.messages = [{ id: 'run_1', role: 'assistant', parts: [{ type: 'text', text: 'Done.' }] }];
  });
  server.send({ run_id: 'run_1', llm_call_id: 'run_1.1', offset: 0, text: 'Done.' }, 'llm_delta');
  server.send({ event_seq: 1, kind: 'tool_started', run_id: 'run_1', data: {} });
  await expect.poll(() => server.thread.active_run_id).toBe(null);
  server.send({ event_seq: 2, kind: 'request_completed', run_id: 'run_1', data: {} });
  await expect.poll(() => ready.length).toBeGreaterThan(0);
  for (const texts of ready) expect(texts).toEqual(['Done.']);
  stop();
});

test('a question that is sent again after an outage is the same request; any other one is not', async () => {
  const { store, asked, faults } = serverOf();
  faults.ask = 2;
  await expect(store.send('a', 'Hello?')).rejects.toMatchObject({ code: 'unreachable' });
  await expect(store.send('a', 'Hello?')).rejects.toMatchObject({ code: 'unreachable' });
  await store.send('a', 'Hello?');
  await store.send('a', 'Hello?');
  const ids = asked.map((request) => request.request_id);
  expect(new Set(ids.slice(0, 3)).size).toBe(1);
  expect(ids[3]).not.toBe(ids[0]);
});

test('a store that was refused follows its thread again with the next question', async () => {
  const server = serverOf();
  server.refuse(403, 'forbidden');
  server.faults.read = 1;
  const stop = server.store.subscribe(() => {});
  await expect.poll(() => server.store.state().error?.code).toBe('forbidden');
  expect(server.open()).toBe(false);
  server.run('run_2', 'queued', null);
  await server.store.send('a', 'Hello?');
  await expect.poll(server.open).toBe(true);
  stop();
});

test.each([
  ['its question is on its way', 'ask'],
  ['it has not been read', 'read'],
] as const)('a run is cancelled although %s', async (_, held) => {
  const server = serverOf();
  server.thread.active_run_id = 'run_1';
  server.run('run_1', 'completed', '2026-01-01T00:00:00Z');
  const stop = server.store.subscribe(() => {});
  await expect.poll(() => server.store.state().status).toBe('ready');
  const release = server.hold(held);
  const sent = server.store.send('a', 'Hello?');
  server.thread.active_run_id = 'run_2';
  server.run('run_2', 'running', null);
  if (held === 'read') await sent;
  expect(server.store.state().status).toBe('busy');
  const cancelled = server.store.cancel('Enough.');
  release();
  await cancelled;
  expect(server.cancelled).toEqual(['/v1/threads/t/runs/run_2/cancel']);
  stop();
});

test('a thread is busy as long as a question is on its way, whatever is read of it', async () => {
  const server = serverOf();
  server.thread.active_run_id = 'run_1';
  server.run('run_1', 'completed', '2026-01-01T00:00:00Z');
  const statuses = new Set<string>();
  const stop = server.store.subscribe(() => {});
  await expect.poll(server.open).toBe(true);
  const release = server.hold('ask');
  const sent = server.store.send('a', 'Hello?');
  const unsubscribe = server.store.subscribe(() => statuses.add(server.store.state().status));
  server.said.messages = [{ id: 'run_1', role: 'assistant', parts: [{ type: 'text', text: 'Done.' }] }];
  server.send({ event_seq: 1, kind: 'request_completed', run_id: 'run_1', data: {} });
  await expect.poll(() => textsOf(server.store)).toContain('Done.');
  server.thread.active_run_id = 'run_2';
  server.run('run_2', 'running', null);
  release();
  await sent;
  await expect.poll(() => server.store.state().run?.id).toBe('run_2');
  expect([...statuses]).toEqual(['busy']);
  unsubscribe();
  stop();
});

test('a question that was refused leaves nothing to cancel', async () => {
  const server = serverOf();
  server.faults.ask = 1;
  const sent = server.store.send('a', 'Hello?');
  const cancelled = server.store.cancel();
  await expect(sent).rejects.toMatchObject({ code: 'unreachable' });
  await cancelled;
  expect(server.cancelled).toEqual([]);
});
