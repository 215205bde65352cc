import { createClient } from 'lanefold/client';
import { afterEach, expect, test, vi } from 'vitest';
import { shown } from '../../src/doors/react/messages.ts';
import { threadStore } from '../../src/doors/react/stores.ts';

/** A server of one thread that says what a test makes it say. */
function serverOf() {
  const thread = { id: 't', active_run_id: null as string | null, event_rev: 1, exists: true };
  const said = { messages: [] as object[], runs: new Map<string, object>() };
  const asked: { request_id: string }[] = [];
  const faults = { read: 0, ask: 0 };
  const held = { read: Promise.resolve(), ask: Promise.resolve(), decide: Promise.resolve() };
  const cancelled: string[] = [];
  const problemOf = (status: number, code: string) =>
    Response.json({ code, status, title: code, detail: code, hint: '' }, { status });
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  let onRead = () => {};
  const answer = (path: string): unknown => {
    if (path === '/v1/threads/t') return thread;
    if (path.startsWith('/v1/threads/t/ui-messages')) return { data: said.messages, next_after: null };
    return said.runs.get(path.split('/').at(-1)!);
  };
  let reads = 0;
  const missed: string[] = [];
  const accepted = (status: string) => Response.json({ id: 'run_2', thread_id: 't', status, duplicate: false });
  let onAsk = (): Response => accepted('queued');
  const fetch = async (url: unknown, init: RequestInit = {}) => {
    const path = String(url).replace('http://own', '');
    if (path.startsWith('/v1/threads/t/events')) {
      const body = new ReadableStream<Uint8Array>({ start: (own) => void (stream = own) });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    }
    if (path.endsWith('/cancel')) {
      cancelled.push(path);
      const { finished_at } = said.runs.get(path.split('/').at(-2)!)! as { finished_at: string | null };
      return Response.json({ accepted: finished_at === null });
    }
    if (path.endsWith('/approve')) {
      await held.decide;
      return Response.json({});
    }
    if (init.method === 'POST') {
      asked.push(JSON.parse(init.body as string) as { request_id: string });
      await held.ask;
      if (faults.ask-- > 0) throw new TypeError('fetch failed');
      return onAsk();
    }
    const [exists, found] = [thread.exists, Response.json(answer(path))];
    reads += 1;
    await held.read;
    reads -= 1;
    if (!exists) {
      missed.push('thread_not_found');
      return problemOf(404, 'thread_not_found');
    }
    if (path.includes('ui-messages') && faults.read-- > 0) return problem();
    if (path.includes('ui-messages')) onRead();
    return found;
  };
  let problem = (): Response => Response.json({});
  const store = threadStore(createClient({ url: 'http://own', fetch, maxRetries: 0, retryDelayMs: 0 }), 't');
  return {
    thread,
    said,
    asked,
    faults,
    cancelled,
    missed,
    store,
    open: () => stream !== undefined,
    /** Whether an answer is held back. */
    reading: () => reads > 0,
    /** Keeps the answers to such requests until the returned function is called. */
    hold(requests: keyof typeof held): () => void {
      let release!: () => void;
      held[requests] = new Promise((resolve) => (release = resolve));
      return release;
    },
    /** Calls it after each answer with messages. */
    afterMessages: (act: () => void) => (onRead = act),
    refuse: (status: number, code: string) => (problem = () => problemOf(status, code)),
    acceptQuestions: (status: string) => (onAsk = () => accepted(status)),
    refuseQuestions: (status: number, code: string) => (onAsk = () => problemOf(status, code)),
    send: (data: Record<string, unknown>, event = String(data['kind'] ?? 'event')) =>
      stream!.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)),
    run: (id: string, status: string, finished_at: string | null, approvals: object[] = []) =>
      said.runs.set(id, { id, thread_id: 't', agent: 'a', status, finished_at, approvals }),
  };
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const textsOf = (store: ReturnType<typeof serverOf>['store']) =>
  store.state().messages.flatMap(({ parts }) => parts.map((part) => (part as { text?: string }).text));

/** A server with the run `run_1`, which is or was active, and a page that follows its thread. */
async function withRun(status: string, finishedAt: string | null = null) {
  const server = serverOf();
  server.thread.active_run_id = 'run_1';
  server.run('run_1', status, finishedAt);
  const stop = server.store.subscribe(() => {});
  await expect.poll(server.open).toBe(true);
  return { ...server, stop };
}

test('an answer in progress joins what is known of it, also where a conversation begins with an answer', () => {
  const known = { id: 'r', role: 'assistant' as const, parts: [{ type: 'text' as const, text: 'Once' }] };
  const answers = [{ callId: 'c', runId: 'r', text: 'upon', thinking: '', done: false }];
  expect(shown([known], [], answers)).toEqual([
    { ...known, parts: [...known.parts, { type: 'text', text: 'upon', state: 'streaming' }] },
  ]);
});

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
  const server = await withRun('running');
  server.send({ run_id: 'run_1', llm_call_id: 'run_1.1', offset: 0, text: 'Half' }, 'llm_delta');
  await expect.poll(() => textsOf(server.store)).toEqual(['Half']);
  // another one is active by the time that the end is read
  server.thread.active_run_id = 'run_2';
  server.run('run_2', 'running', null);
  server.send({ event_seq: 1, kind: 'request_cancelled', run_id: 'run_1', data: {} });
  await expect.poll(() => server.store.state().run?.id).toBe('run_2');
  expect(textsOf(server.store)).toEqual([]);
  server.stop();
});

test('what a run wrote does not come back once another run is active', async () => {
  const server = await withRun('running');
  server.thread.active_run_id = 'run_2';
  server.run('run_2', 'running', null);
  server.send({ event_seq: 1, kind: 'request_completed', run_id: 'run_1', data: {} });
  await expect.poll(() => server.store.state().run?.id).toBe('run_2');
  server.send({ run_id: 'run_1', llm_call_id: 'run_1.1', offset: 0, text: 'Late' }, 'llm_delta');
  server.send({ run_id: 'run_2', llm_call_id: 'run_2.1', offset: 0, text: 'Half' }, 'llm_delta');
  await expect.poll(() => textsOf(server.store)).toContain('Half');
  expect(textsOf(server.store)).toEqual(['Half']);
  server.stop();
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

/** A server whose only run has ended, and a page of it. */
async function afterOneRun() {
  const server = await withRun('completed', '2026-01-01T00:00:00Z');
  expect(server.store.state().status).toBe('ready');
  server.thread.active_run_id = null;
  return server;
}

test.each([
  ['its question is on its way', 'ask'],
  ['it has not been read', 'read'],
] as const)('a run is cancelled although %s', async (_, held) => {
  const server = await afterOneRun();
  const release = server.hold(held);
  const sent = server.store.send('a', 'Hello?');
  server.thread.active_run_id = 'run_2';
  server.run('run_2', 'running', null);
  if (held === 'read') await sent;
  expect(server.store.state().status).toBe('busy');
  const cancelled = server.store.cancel('Enough.');
  if (held === 'ask') release();
  await cancelled;
  release();
  expect(server.cancelled).toEqual(['/v1/threads/t/runs/run_2/cancel']);
  server.stop();
});

test.each([
  ['interrupts a suspended run', 'interrupt', 'suspended', 'queued', 'run_2'],
  ['interrupts a run that still has to stop', 'interrupt', 'running', 'waiting', 'run_2'],
  ['lets a run continue first', 'wait', 'running', 'waiting', 'run_1'],
] as const)('after a question that %s, the right run is cancelled', async (_, busy, status, answer, cancelled) => {
  const server = await withRun(status);
  server.run('run_2', answer, null);
  server.acceptQuestions(answer);
  const release = server.hold('read');
  await server.store.send('a', 'Hello?', { busy });
  await server.store.cancel();
  release();
  // the same once the thread has been read
  server.said.messages = [{ id: 'run_1', role: 'assistant', parts: [{ type: 'text', text: 'Done.' }] }];
  server.send({ event_seq: 1, kind: 'tool_completed', run_id: 'run_1', data: {} });
  await expect.poll(() => textsOf(server.store)).toContain('Done.');
  await server.store.cancel();
  expect(server.cancelled).toEqual(Array(2).fill(`/v1/threads/t/runs/${cancelled}/cancel`));
  server.stop();
});

test('a question that waits after a run that has ended is shown and cancelled until it is over', async () => {
  const server = await afterOneRun();
  server.run('run_2', 'waiting', null);
  server.acceptQuestions('waiting');
  await server.store.send('a', 'Hello?', { busy: 'wait' });
  expect(server.store.state().status).toBe('busy');
  await server.store.cancel();
  expect(server.cancelled).toEqual(['/v1/threads/t/runs/run_2/cancel']);
  server.run('run_2', 'cancelled', '2026-01-01T00:00:00Z');
  server.send({ event_seq: 1, kind: 'request_cancelled', run_id: 'run_2', data: {} });
  await expect.poll(() => server.store.state().status).toBe('ready');
  server.stop();
});

test('a thread is busy from its question until the run has been read, whatever is read in between', async () => {
  const server = await afterOneRun();
  const statuses: string[] = [];
  const leave = server.store.subscribe(() => void statuses.push(server.store.state().status));
  const releaseAnswer = server.hold('ask');
  const sent = server.store.send('a', 'Hello?');
  server.said.messages = [{ id: 'run_1', role: 'assistant', parts: [{ type: 'text', text: 'Done.' }] }];
  server.send({ event_seq: 1, kind: 'tool_completed', run_id: 'run_1', data: {} });
  await expect.poll(() => textsOf(server.store)).toContain('Done.');
  // a read that began before the answer, and ends after it
  const releaseRead = server.hold('read');
  server.send({ event_seq: 2, kind: 'request_completed', run_id: 'run_1', data: {} });
  await expect.poll(server.reading).toBe(true);
  releaseAnswer();
  await sent;
  server.thread.active_run_id = 'run_2';
  server.run('run_2', 'running', null);
  releaseRead();
  await expect.poll(() => server.store.state().run?.id).toBe('run_2');
  expect(new Set(statuses)).toEqual(new Set(['busy']));
  leave();
  server.stop();
});

test('the first question of a thread makes it busy, and can be cancelled', async () => {
  const server = serverOf();
  server.thread.exists = false;
  const statuses: string[] = [];
  const stop = server.store.subscribe(() => void statuses.push(server.store.state().status));
  const release = server.hold('ask');
  const sent = server.store.send('a', 'Hello?');
  // that there is no such thread arrives later than the question was sent
  await expect.poll(() => server.missed).toEqual(['thread_not_found']);
  const cancelled = server.store.cancel();
  server.thread.exists = true;
  server.thread.active_run_id = 'run_2';
  server.run('run_2', 'running', null);
  release();
  await Promise.all([sent, cancelled]);
  await expect.poll(() => server.store.state().run?.id).toBe('run_2');
  expect(new Set(statuses)).toEqual(new Set(['busy']));
  expect(server.cancelled).toEqual(['/v1/threads/t/runs/run_2/cancel']);
  stop();
});

test('a question that was refused leaves the thread as it is by then', async () => {
  const server = await withRun('running');
  const release = server.hold('ask');
  server.refuseQuestions(409, 'thread_busy');
  const sent = Promise.allSettled([server.store.send('a', 'One?'), server.store.send('a', 'Two?')]);
  server.run('run_1', 'completed', '2026-01-01T00:00:00Z');
  server.send({ event_seq: 1, kind: 'request_completed', run_id: 'run_1', data: {} });
  await expect.poll(() => server.store.state().run?.status).toBe('completed');
  expect(server.store.state().status).toBe('busy');
  release();
  await sent;
  expect(server.store.state()).toMatchObject({ status: 'ready', error: { code: 'thread_busy' } });
  await server.store.cancel();
  expect(server.cancelled).toEqual([]);
  server.stop();
});

test('a thread is loading until it has been read, also if its first question is refused', async () => {
  const server = serverOf();
  server.thread.exists = false;
  server.refuseQuestions(422, 'unknown_agent');
  await expect(server.store.send('nobody', 'Hello?')).rejects.toMatchObject({ code: 'unknown_agent' });
  expect(server.store.state().status).toBe('loading');
  const stop = server.store.subscribe(() => {});
  await expect.poll(() => server.store.state().status).toBe('ready');
  stop();
});

test('an event that arrives while a read fails is read all the same', async () => {
  const server = serverOf();
  server.thread.active_run_id = 'run_1';
  server.run('run_1', 'running', null);
  const seen: string[] = [];
  const errors = new Set<unknown>();
  const stop = server.store.subscribe(() => {
    seen.push(textsOf(server.store).join());
    errors.add(server.store.state().error);
  });
  await expect.poll(server.open).toBe(true);
  const release = server.hold('read');
  server.send({ event_seq: 1, kind: 'tool_completed', run_id: 'run_1', data: {} });
  await expect.poll(server.reading).toBe(true);
  server.refuse(500, 'internal_error');
  server.faults.read = 1;
  server.send({ run_id: 'run_1', llm_call_id: 'run_1.1', offset: 0, text: 'Half' }, 'llm_delta');
  server.send({ event_seq: 2, kind: 'request_completed', run_id: 'run_1', data: {} });
  await expect.poll(() => seen.includes('Half') && seen.at(-1) === '').toBe(true);
  server.run('run_1', 'completed', '2026-01-01T00:00:00Z');
  release();
  await expect.poll(() => server.store.state().status).toBe('ready');
  expect([...errors]).toEqual([undefined]);
  stop();
});

test('a read that fails is repeated when the browser is online again', async () => {
  const { setTimeout } = globalThis;
  const browser = new EventTarget();
  // the pause that it ends
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms: number) =>
    setTimeout(run, ms === 10_000 ? 2 ** 30 : ms)) as typeof setTimeout);
  vi.stubGlobal('addEventListener', browser.addEventListener.bind(browser));
  vi.stubGlobal('removeEventListener', browser.removeEventListener.bind(browser));
  const server = await withRun('running');
  server.refuse(500, 'internal_error');
  server.faults.read = 1;
  server.run('run_1', 'completed', '2026-01-01T00:00:00Z');
  server.send({ event_seq: 1, kind: 'request_completed', run_id: 'run_1', data: {} });
  await expect.poll(() => server.store.state().error?.code).toBe('internal_error');
  expect(server.store.state().status).toBe('busy');
  browser.dispatchEvent(new Event('online'));
  await expect.poll(() => server.store.state().status).toBe('ready');
  expect(server.store.state().error).toBeUndefined();
  server.stop();
});

test('a question that was refused because of a run nobody has seen yet shows that run', async () => {
  const server = serverOf();
  server.thread.exists = false;
  const stop = server.store.subscribe(() => {});
  await expect.poll(() => server.store.state().status).toBe('ready');
  // asked in another window
  server.thread.exists = true;
  server.thread.active_run_id = 'run_1';
  server.run('run_1', 'running', null);
  server.refuseQuestions(409, 'thread_busy');
  await expect(server.store.send('a', 'Hello?')).rejects.toMatchObject({ code: 'thread_busy' });
  await expect.poll(() => server.store.state().status).toBe('busy');
  // until the next call
  expect(server.store.state().error?.code).toBe('thread_busy');
  await server.store.cancel();
  expect(server.cancelled).toEqual(['/v1/threads/t/runs/run_1/cancel']);
  expect(server.store.state().error).toBeUndefined();
  stop();
});

test.each([
  [404, 'thread_not_found', undefined],
  [410, 'thread_erased', 'thread_erased'],
  [403, 'forbidden', 'forbidden'],
])('a thread that can no longer be read (%i) is not busy', async (status, code, error) => {
  const server = await withRun('running');
  server.refuse(status, code);
  server.faults.read = 2;
  server.send({ event_seq: 1, kind: 'request_completed', run_id: 'run_1', data: {} });
  await expect.poll(() => server.store.state()).toMatchObject({ status: 'ready', run: undefined });
  expect(server.store.state().error?.code).toBe(error);
  server.stop();
});

test('a run that the page shows is cancelled although the one before it was read last', async () => {
  const server = await withRun('running');
  server.acceptQuestions('waiting');
  await server.store.send('a', 'Hello?', { busy: 'wait' });
  server.run('run_1', 'completed', '2026-01-01T00:00:00Z');
  server.run('run_2', 'running', null);
  server.thread.active_run_id = 'run_2';
  server.send({ run_id: 'run_2', llm_call_id: 'run_2.1', offset: 0, text: 'Half' }, 'llm_delta');
  await expect.poll(() => textsOf(server.store)).toContain('Half');
  await server.store.cancel();
  expect(server.cancelled.at(-1)).toBe('/v1/threads/t/runs/run_2/cancel');
  server.stop();
});

test('a call that is decided does not come back while another one is', async () => {
  const server = serverOf();
  const waiting = [0, 1].map((index) => ({ call: `1.${index}`, round: 1, index, name: 'refund', arguments: {} }));
  server.thread.active_run_id = 'run_1';
  server.run('run_1', 'suspended', null, waiting);
  const shown: string[][] = [];
  const calls = () => server.store.state().approvals.map(({ call }) => call);
  const stop = server.store.subscribe(() => void shown.push(calls()));
  await expect.poll(calls).toEqual(['1.0', '1.1']);
  const [first, second] = server.store.state().approvals;
  shown.length = 0;
  const release = server.hold('decide');
  const decided = [server.store.approve(first!), server.store.approve(second!)];
  // what is read in the meantime still has both
  server.said.messages = [{ id: 'run_1', role: 'assistant', parts: [{ type: 'text', text: 'Wait.' }] }];
  server.send({ event_seq: 1, kind: 'tool_started', run_id: 'run_1', data: {} });
  await expect.poll(() => textsOf(server.store)).toContain('Wait.');
  release();
  await Promise.all(decided);
  server.run('run_1', 'running', null);
  server.send({ event_seq: 2, kind: 'tool_started', run_id: 'run_1', data: {} });
  await expect.poll(() => server.store.state().status).toBe('busy');
  expect(new Set(shown.map(String))).toEqual(new Set(['1.1', '']));
  stop();
});

test('the error of a lost answer leaves with the proof that the question arrived', async () => {
  const server = await withRun('completed', '2026-01-01T00:00:00Z');
  server.faults.ask = 1;
  await expect(server.store.send('a', 'Hello?')).rejects.toMatchObject({ code: 'unreachable' });
  expect(server.store.state().error?.code).toBe('unreachable');
  const [{ request_id: id }] = server.asked as [{ request_id: string }];
  server.said.messages = [{ id, role: 'user', parts: [{ type: 'text', text: 'Hello?' }] }];
  server.send({ event_seq: 1, kind: 'request_started', run_id: 'run_1', data: {} });
  await expect.poll(() => server.store.state().error).toBeUndefined();
  server.stop();
});
