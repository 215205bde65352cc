import { Answers, isTerminal } from './answers.ts';
import { isWorthRepeating, unexpected, type Connection, type Params } from './connection.ts';
import { fromProblem, isClientError, type LanefoldClientError } from './errors.ts';
import type { Problem } from './operations.ts';
import { backoffMs, pause, linked } from './wait-for.ts';
import { readSse, toItem, type SseMessage, type StreamItem, type StreamOptions } from './sse.ts';

/** The server breaks every silence with a comment after 15 s; a connection silent for longer is lost. */
const silenceMs = 45_000;

/**
 * Follows a run, or a thread across its runs. Reconnects where a connection ends too early, and continues after the last
 * event received: no event is missing or repeated, and neither is a character of an answer.
 */
export async function* follow(
  connection: Connection,
  id: 'listRunEvents' | 'listThreadEvents',
  params: Params,
  { after, deltas = true, entries = false, wait = false, signal }: StreamOptions,
): AsyncGenerator<StreamItem, void, void> {
  const answers = new Answers();
  let at = after;
  let over = false;
  // a page may resume after an event of a thread that is erased by now
  let existed = after !== undefined && !wait;
  // since a connection has last worked
  let failures = 0;
  const works = () => void (failures = 0);
  const opened = () => void (existed ||= !wait);
  const from = () => ({ at, deltas, entries, wait, signal, opened, works });
  while (!signal?.aborted) {
    let accepted = false;
    try {
      for await (const message of connect(connection, id, params, from())) {
        if (message === 'nothing more') return;
        accepted = true;
        if (message.event === 'problem') throw fromProblem(JSON.parse(message.data) as Problem);
        works();
        const item = toItem(message);
        // each connection begins with it
        if (item.type === 'exists' && existed) continue;
        existed = true;
        if (item.type === 'event') {
          at = item.event.eventSeq;
          over ||= id === 'listRunEvents' && isTerminal(item.event.kind);
        }
        for (const passed of answers.pass(item)) {
          yield passed;
          if (signal?.aborted) return;
        }
      }
      if (over) return;
      failures += 1;
    } catch (error) {
      if (signal?.aborted) return;
      const lost = connection.lost(error, connection.locate(id, params)[1]);
      // the stream of a thread ends with its thread
      if (existed && isClientError(lost, 'thread_erased')) return;
      failures += 1;
      if (!isWorthRepeating(lost)) {
        if (!(await connection.renew(lost))) throw lost;
        // the token has expired on a stream that it had opened
        if (accepted) failures = 1;
      }
      if (failures > connection.maxRetries) throw lost;
      await pause(Math.max(lost.retryAfterMs ?? 0, backoffMs(failures, connection.retryDelayMs)), signal);
      continue;
    }
    if (failures > connection.maxRetries) throw endedEarly(connection, id, params);
    await pause(backoffMs(failures, connection.retryDelayMs), signal);
  }
}

interface From {
  at: number | undefined;
  deltas: boolean;
  entries: boolean;
  wait: boolean;
  signal: AbortSignal | undefined;
  /** Called when the server has accepted the request. */
  opened: () => void;
  /** Called when the server shows that the connection works, although it has nothing to say. */
  works: () => void;
}

/** The messages of one connection; `nothing more` if the run has ended and all its events were received. */
async function* connect(
  connection: Connection,
  id: 'listRunEvents' | 'listThreadEvents',
  params: Params,
  { at, deltas, entries, wait, signal, opened, works }: From,
): AsyncGenerator<SseMessage | 'nothing more', void, void> {
  const limit = linked(signal, silenceMs);
  try {
    const query = {
      format: 'sse',
      ...(deltas ? {} : { deltas }),
      ...(entries ? { entries } : {}),
      ...(wait ? { wait } : {}),
    };
    const [method, path] = connection.locate(id, params, query);
    // a negative one is from the beginning, as without it, and no event has such an id
    const isNew = at === undefined || at < 0;
    const headers = { accept: 'text/event-stream', ...(isNew ? {} : { 'last-event-id': String(at) }) };
    const response = await connection.send(method, path, { headers, signal: limit.signal });
    if (response.status === 204) return yield 'nothing more';
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('text/event-stream') || !response.body) throw unexpected(response);
    opened();
    yield* readSse(chunksOf(response.body, limit.touch), works);
  } finally {
    limit.release();
    limit.abort();
  }
}

/** Not every runtime iterates over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array>, touch: () => void): AsyncGenerator<Uint8Array, void, void> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    touch();
    yield value;
  }
}

const endedEarly = (
  connection: Connection,
  id: 'listRunEvents' | 'listThreadEvents',
  params: Params,
): LanefoldClientError =>
  connection.lost(new Error('the stream ended before its end'), connection.locate(id, params)[1]);
