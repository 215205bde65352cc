// @module-tag slow
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import net from 'node:net';
import type { RunHandle, RunningServer } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { eventsOf } from '../support/log.ts';

import { readSse, type SseMessage } from '../support/sse.ts';
import { startPair, type Pair } from '../support/two-processes.ts';
import { until } from '../support/until.ts';
import { caller, problem, type Api } from './helpers.ts';

describe('a stream over HTTP', () => {
  let pair: Pair;
  let server: RunningServer;
  let call: Api['call'];
  const faults: unknown[] = [];
  beforeAll(async () => {
    pair = await startPair();
    server = await pair.front.startServer({ port: 0, onError: (error) => faults.push(error) });
    call = caller(server.url);
  });
  afterAll(async () => {
    await pair?.close();
    expect(faults).toEqual([]);
  });

  const start = () => pair.front.runs.enqueue({ agent: 'typist', input: 'hi' });
  const ofRun = (run: RunHandle) => `/v1/threads/${run.threadId}/runs/${run.id}/events`;
  const ofThread = (run: RunHandle) => `/v1/threads/${run.threadId}/events`;
  const read = (path: string, headers?: Record<string, string>) => readSse(server.url + path, headers);
  const stored = async (run: RunHandle) => (await eventsOf(pair.front, run.threadId)).map((event) => event.event_seq);
  /** Assembles an answer as a client does. Fails on a gap or an overlap. */
  const answer = (messages: SseMessage[]): string => {
    let text = '';
    for (const { event, data } of messages as { event: string; data: { text?: string; offset: number } }[]) {
      if (event === 'llm_snapshot') text = data.text!;
      if (event !== 'llm_delta' || data.text === undefined) continue;
      expect(data.offset).toBe(text.length);
      text += data.text;
    }
    return text;
  };
  /** A run with two tool calls, one of which fails, and an answer; it has ended. */
  const ended = async () => {
    const run = await start();
    (await pair.model.next()).stop(
      { id: 'c1', name: 'look', args: { at: 'the sea' } },
      { id: 'c2', name: 'look', args: { at: 'nothing' } },
    );
    const keys = await pair.model.next();
    keys.type('Only the sea.');
    keys.stop();
    await pair.front.runs.wait(run);
    return run;
  };

  test('sends events with ids and the answer without, and ends with the run', async () => {
    // Keep the thread busy until the reader is connected, so that it sees the run start.
    const busy = await start();
    const first = await pair.model.next();
    const run = await pair.front.runs.enqueue({
      agent: 'typist',
      input: 'hi',
      threadId: busy.threadId,
      busy: 'wait',
    });
    const reader = await read(ofRun(run));
    expect(reader.status).toBe(200);
    expect(reader.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(reader.headers.get('cache-control')).toBe('no-cache, no-transform');
    first.stop();
    const keys = await pair.model.next();
    await reader.has('llm_started');
    keys.think('Hm.');
    keys.type('Good ');
    await until('the beginning came', () => answer(reader.messages) === 'Good ');
    keys.type('day.');
    keys.stop();
    await reader.ended;
    expect(answer(reader.messages)).toBe('Good day.');
    expect(reader.raw()).toMatch(/^retry: \d+\n\n/);
    expect(reader.ids()).toEqual((await eventsOf(pair.front, run.threadId, run.id)).map(({ event_seq }) => event_seq));
    for (const { event, id, data } of reader.messages) {
      if (event === 'llm_delta') {
        expect(id).toBeUndefined();
        expect(data).toMatchObject({ run_id: run.id, llm_call_id: `${run.id}.1`, offset: expect.any(Number) });
      } else expect(data).toMatchObject({ event_seq: Number(id), kind: event, run_id: run.id });
    }
    const { body } = await call('GET', ofRun(run));
    expect(reader.messages.filter(({ id }) => id !== undefined).map(({ data }) => data)).toEqual(
      (body as { data: unknown[] }).data,
    );
  });

  test('resumes after Last-Event-ID at any event, and returns 204 once it has ended', async () => {
    const run = await ended();
    const all = await stored(run);
    expect(all.length).toBeGreaterThan(9);
    for (const id of all.slice(0, -1)) {
      const reader = await read(ofRun(run), { 'last-event-id': String(id) });
      await reader.ended;
      expect(reader.ids()).toEqual(all.filter((seq) => seq > id));
    }
    expect((await read(ofRun(run), { 'last-event-id': String(all.at(-1)) })).status).toBe(204);
    const after = await read(`${ofRun(run)}?format=sse&after=3&deltas=false`, { accept: '*/*' });
    await after.ended;
    expect(after.ids()).toEqual(all.filter((seq) => seq > 3));
    expect(after.events()).not.toContain('llm_snapshot');
  });

  test('of an ended run stops at its last event, even if its thread has continued', async () => {
    const first = await ended();
    const own = await stored(first);
    const next = await pair.front.runs.enqueue({ agent: 'echo', input: 'more', threadId: first.threadId });
    await pair.front.runs.wait(next);
    expect((await stored(first)).length).toBeGreaterThan(own.length);
    expect((await read(ofRun(first), { 'last-event-id': String(own.at(-1)) })).status).toBe(204);
    for (const id of [-1, own.at(-2)!]) {
      const reader = await read(`${ofRun(first)}?format=sse&after=${id}`);
      await reader.ended;
      expect(reader.ids()).toEqual(own.filter((seq) => seq > id));
    }
    expect((await read(ofRun(next), { 'last-event-id': String(own.at(-1)) })).status).toBe(200);
  });

  test('of a thread continues across runs and reconnects', async () => {
    const first = await ended();
    let last = -1;
    const seen: number[] = [];
    for (let n = 0; n < 4; n++) {
      const headers = last < 0 ? {} : { 'last-event-id': String(last) };
      const reader = await read(ofThread(first), headers as Record<string, string>);
      const run = await pair.front.runs.enqueue({ agent: 'echo', input: `${n}`, threadId: first.threadId });
      // Disconnects during the run, at a different event each time.
      await until('some came', () => reader.ids().length > n + 1);
      reader.leave();
      seen.push(...reader.ids());
      last = seen.at(-1)!;
      await pair.front.runs.wait(run);
    }
    const rest = await read(ofThread(first), { 'last-event-id': String(last) });
    const all = await stored(first);
    await until('the rest came', () => (rest.ids().at(-1) ?? last) === all.at(-1));
    rest.leave();
    expect([...seen, ...rest.ids()]).toEqual(all);
  });

  test('starts with a snapshot for a client that joins during the answer', async () => {
    const run = await start();
    const keys = await pair.model.next();
    keys.type('So far, ');
    const reader = await read(ofThread(run));
    await reader.has('llm_snapshot');
    keys.type('so good.');
    keys.stop();
    await reader.has('request_completed');
    reader.leave();
    expect(answer(reader.messages)).toBe('So far, so good.');
    expect(reader.events().filter((event) => event === 'llm_snapshot')).toHaveLength(1);
  });

  test('that is not read buffers nothing and delays neither the run nor other readers', async () => {
    const run = await start();
    const { port } = new URL(server.url);
    const idle = net.connect(Number(port), '127.0.0.1');
    await new Promise((resolve) => idle.once('connect', resolve));
    const { setTimeout } = globalThis;
    // a slow machine takes longer than a client may read nothing: its stream is not checked for that
    const checks = vi
      .spyOn(globalThis, 'setTimeout')
      .mockImplementation(((check: () => void, ms: number) =>
        setTimeout(ms === 3_750 ? () => {} : check, ms)) as typeof setTimeout);
    let socket!: net.Socket;
    const onRequest = (message: unknown) => void ({ socket } = message as { socket: net.Socket });
    subscribe('http.server.request.start', onRequest);
    idle.write(`GET ${ofRun(run)} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`);
    await new Promise((resolve) => idle.once('data', resolve));
    idle.pause();
    unsubscribe('http.server.request.start', onRequest);
    // as a client that reads nothing does once the sockets are full, however much they hold
    socket.cork();
    expect(checks.mock.calls.map(([, ms]) => ms)).toContain(3_750);
    checks.mockRestore();
    const reader = await read(ofRun(run));
    const keys = await pair.model.next();
    await reader.has('llm_started');
    const chunk = 'x'.repeat(100_000);
    const size = 60;
    for (let n = 1; n <= size; n++) {
      keys.type(chunk);
      if (n % 10 === 0) await until('the reader follows', () => answerLength(reader.messages) === n * chunk.length);
    }
    keys.stop();
    await reader.ended;
    expect(await pair.front.runs.wait(run)).toMatchObject({ status: 'completed' });
    // one delta is on its way, and the others were never asked for
    expect(socket.writableLength).toBeLessThan(11 * chunk.length);
    // A reader that resumes gets every event and the whole answer, with the missed deltas merged into one.
    let deltas = 0;
    let got = 0;
    let tail = '';
    idle.on('data', (bytes) => {
      const text = tail + bytes.toString('latin1');
      got += bytes.length;
      deltas += text.split('event: llm_delta').length - tail.split('event: llm_delta').length;
      tail = text.slice(-1_000);
    });
    socket.uncork();
    idle.resume();
    await until('the rest was sent', () => tail.includes('event: request_completed'));
    expect(got).toBeGreaterThan(size * chunk.length);
    expect(deltas).toBeLessThan(reader.events().filter((event) => event === 'llm_delta').length);
    idle.destroy();
  });

  test('needs no extra statements for more readers', async () => {
    const perRun = 10;
    const runs = await Promise.all(Array.from({ length: 3 }, start));
    const keys = await Promise.all(runs.map(() => pair.model.next()));
    const readers = await Promise.all(runs.flatMap((run) => Array.from({ length: perRun }, () => read(ofRun(run)))));
    await until('all have begun', () => readers.every((reader) => reader.events().includes('llm_started')));
    const asked: string[] = [];
    const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      asked.push((args[0] as { name?: string }).name ?? '');
      return query.apply(this, args) as never;
    });
    for (const key of keys) key.type('To all of you.');
    await until('all read along', () => readers.every((reader) => answer(reader.messages) === 'To all of you.'));
    for (const key of keys) key.stop();
    await Promise.all(readers.map((reader) => reader.ended));
    vi.restoreAllMocks();
    // One query reads new events of all threads, and one per thread reads the answer.
    expect(asked.filter((name) => name === 'find_stream_start' || name === 'thread_events')).toEqual([]);
    expect(asked.filter((name) => name === 'payloads').length).toBeLessThanOrEqual(runs.length);
    expect(asked).toContain('new_events');
    const all = await Promise.all(runs.map(stored));
    for (const [i, reader] of readers.entries()) {
      expect(reader.ids()).toEqual(all[Math.floor(i / perRun)]);
      expect(answer(reader.messages)).toBe('To all of you.');
    }
  });

  test('cancels nothing when a client disconnects', async () => {
    const run = await start();
    const keys = await pair.model.next();
    const reader = await read(ofRun(run));
    await reader.has('llm_started');
    reader.leave();
    keys.type('Done anyway.');
    keys.stop();
    expect(await pair.front.runs.wait(run)).toMatchObject({ status: 'completed', result: 'Done anyway.' });
  });

  test('ends immediately when its server closes', async () => {
    const run = await start();
    const other = await pair.front.startServer({ port: 0 });
    const reader = await readSse(`${other.url}${ofRun(run)}`);
    const keys = await pair.model.next();
    await reader.has('llm_started');
    await other.close();
    await reader.ended;
    keys.stop();
    await pair.front.runs.wait(run);
  });

  test('is rejected like any other request', async () => {
    const run = await ended();
    const sse = { accept: 'text/event-stream' };
    expect(await call('GET', '/v1/threads/nowhere/events', undefined, sse)).toMatchObject(
      problem(404, 'thread_not_found'),
    );
    expect(
      await call('GET', `${ofThread(run).replace('/events', '/runs/other/events')}`, undefined, sse),
    ).toMatchObject(problem(404, 'run_not_found'));
    for (const [path, headers] of [
      [ofRun(run), { ...sse, 'last-event-id': 'x' }],
      [`${ofRun(run)}?after=x`, sse],
      [`${ofThread(run)}?limit=1`, sse],
      [`${ofThread(run)}?deltas=true`, {}],
      [`${ofThread(run)}?entries=true`, {}],
      [`${ofThread(run)}?deltas=maybe`, sse],
      [`${ofThread(run)}?format=xml`, {}],
    ] as const)
      expect(await call('GET', path, undefined, headers)).toMatchObject(problem(400, 'invalid_request'));
    const head = await call('HEAD', ofRun(run), undefined, sse);
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  });
});

const answerLength = (messages: SseMessage[]): number =>
  (messages as { data: { text?: string } }[]).reduce((sum, { data }) => sum + (data.text?.length ?? 0), 0);
