import type { RunEvent } from '../../database/store/trace/types.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import { readThreadEvents } from '../../database/store/trace/read-events.ts';
import { isTerminal, type LiveAnswer } from './deltas.ts';
import { assertId } from '../../base/checks/ids.ts';
import type { QuietWaits, UnattendedRuns } from '../fleet/unattended.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { findStreamStart, type StreamStart } from '../../database/store/trace/find-stream-start.ts';
import { untilReachable, type EntryPayloads, type EventFeed } from './feed.ts';
import type { Readers } from './readers.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';

interface Offsets {
  runId: string;
  text: number;
  thinking: number;
}

const rememberedEnds = 64;

/**
 * How far one stream has delivered each answer. Stores offsets, not text: a slow reader costs nothing, and gets the
 * rest in one delta.
 */
class AnswerCursor {
  readonly #offsets = new Map<string, Offsets>();
  readonly #done = new Set<string>();

  /** `head`: the last event when the stream was opened. Calls that began before it start with a snapshot. */
  constructor(readonly head: number) {}

  /** The items due before an event: the rest of the answer it completes, which is `entry`. */
  *before({ kind, eventSeq, runId, data }: RunEvent, entry: JsonObject | undefined): Generator<StreamItem> {
    const callId = data['call_id'] as string;
    if (kind === 'llm_started' && eventSeq > this.head) this.#offsets.set(callId, { runId, text: 0, thinking: 0 });
    if (kind === 'llm_completed') {
      const { content = '', thinking = '' } = entry ?? {};
      if (typeof content === 'string' && typeof thinking === 'string')
        yield* this.more({ runId, callId, text: content, thinking });
    }
    if (kind === 'llm_completed' || kind === 'llm_retry' || kind === 'llm_lost') this.#end(callId);
    if (isTerminal(kind)) for (const [id, call] of this.#offsets) if (call.runId === runId) this.#end(id);
  }

  /** What this stream has not delivered yet of an answer. */
  *more({ runId, callId, text, thinking }: Omit<LiveAnswer, 'placed'>): Generator<StreamItem> {
    if (this.#done.has(callId) || (text === '' && thinking === '')) return;
    const at = this.#offsets.get(callId);
    this.#offsets.set(callId, { runId, text: text.length, thinking: thinking.length });
    const call = { runId, llmCallId: callId };
    if (!at) yield { type: 'llm_snapshot', ...call, text, thinking };
    if (at && thinking.length > at.thinking)
      yield { type: 'llm_delta', ...call, offset: at.thinking, thinking: thinking.slice(at.thinking) };
    if (at && text.length > at.text) yield { type: 'llm_delta', ...call, offset: at.text, text: text.slice(at.text) };
  }

  #end(callId: string): void {
    this.#offsets.delete(callId);
    this.#done.add(callId);
    if (this.#done.size > rememberedEnds) this.#done.delete(this.#done.values().next().value!);
  }
}

export interface StreamDeps {
  db: Database;
  feed: EventFeed;
  readers: Readers;
  payloads: EntryPayloads;
  quiet: QuietWaits;
}

/** Events per page for a reader that is behind; the next page is read once these are consumed. */
const pageSize = 100;
/** Events per page with entries: entries can be megabytes, and a slow reader holds them for as long as it takes. */
const entriesAtOnce = 8;

const optionKeys: KeysOf<StreamOptions> = { after: true, deltas: true, entries: true, signal: true };

/** An open stream; its thread and run exist. */
export interface OpenStream {
  items: AsyncGenerator<StreamItem, void, void>;
  /** True if the run had ended and `after` is at or past its last event: the stream is empty. */
  over: boolean;
}

/**
 * Opens the stream of a thread, or of one of its runs. Every event is delivered once, in order, across lost
 * connections; the stream of a run ends after its last event. The deltas of an answer add up to the stored text; an
 * answer already in progress when the stream opened starts with a snapshot.
 *
 * @throws LanefoldError `thread_not_found`, `thread_erased`, `run_not_found`
 */
export async function openStream(
  deps: StreamDeps,
  threadId: string,
  runId: string | undefined,
  options: StreamOptions = {},
): Promise<OpenStream> {
  refuseUnknownKeys('stream', options, optionKeys);
  assertId(threadId, 'The thread id');
  if (runId !== undefined) assertId(runId, 'The run id');
  const start = await findStreamStart(deps.db, threadId, runId);
  const from = Math.max(options.after ?? -1, start.first - 1, -1);
  const over = start.ended && from >= (start.last ?? start.head);
  return { items: follow(deps, threadId, runId, from, start, options), over };
}

async function* follow(
  { db, feed: events, readers, payloads, quiet }: StreamDeps,
  threadId: string,
  runId: string | undefined,
  from: number,
  start: StreamStart,
  { deltas = true, entries = false, signal }: StreamOptions,
): AsyncGenerator<StreamItem, void, void> {
  let at = from;
  let ended = start.ended;
  const { feed, release } = events.watch(threadId, start.head);
  const leave = deltas ? readers.join(feed) : undefined;
  const cursor = new AnswerCursor(start.head);
  const notices: StreamItem[] = [];
  const wait = quiet.watch({ threadId, runId }, (unattended) => {
    notices.push({ type: 'unattended', ...unattended });
    feed.changed();
  });
  if (feed.head < start.head) void events.refresh(feed);
  try {
    while (!signal?.aborted) {
      const { version } = feed;
      const page = feed.since(at) ?? (await untilReachable(() => readThreadEvents(db, threadId, at, pageSize)));
      const own = page.filter((event) => runId === undefined || event.runId === runId);
      for (let first = 0; first < own.length; first += entriesAtOnce) {
        const some = own.slice(first, first + entriesAtOnce);
        const entryOf = await payloads.of(threadId, some, { deltas, entries });
        for (const event of some) {
          const entry = entryOf.get(event.data['seq'] as number);
          if (deltas) yield* cursor.before(event, entry);
          at = event.eventSeq;
          yield { type: 'event', event, ...(entries && entry ? { entry } : {}) };
          if (signal?.aborted) return;
          ended ||= runId !== undefined && isTerminal(event.kind);
        }
      }
      at = Math.max(at, page.at(-1)?.eventSeq ?? -1);
      // later events belong to other runs
      if (start.ended && start.last !== undefined && at >= start.last) return;
      if (page.length > 0) {
        wait.touch();
        continue;
      }
      if (feed.ended || (ended && at >= start.head && !feed.more)) return;
      // all known events are delivered; answers in progress come after them
      if (deltas && at >= feed.head) {
        for (const answer of feed.live.answers.values())
          if (answer.placed && (runId === undefined || answer.runId === runId)) yield* cursor.more(answer);
      }
      yield* notices.splice(0);
      await feed.changedSince(version, signal);
    }
  } finally {
    wait.end();
    leave?.();
    release();
  }
}

/** Sources that are added while they are read, as one sequence. Each waits until its last item was taken. */
export class Merge<KEY, ITEM> {
  readonly #ready: { key: KEY; item?: ITEM; error?: unknown; taken: () => void }[] = [];
  #open = 0;
  #wake: (() => void) | undefined;
  #left = false;

  /** `key` names the source; the end of a source is yielded too, without an item. */
  add(key: KEY, source: AsyncIterable<ITEM>): void {
    this.#open += 1;
    void this.#drain(key, source);
  }

  /** Ends with the last source. An error of a source ends all; so does leaving early, which returns every source. */
  async *[Symbol.asyncIterator](): AsyncGenerator<{ key: KEY; item?: ITEM }, void, void> {
    let taken = () => {};
    try {
      while (this.#open > 0 || this.#ready.length > 0) {
        const next = this.#ready.shift();
        if (!next) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
          continue;
        }
        if ('error' in next) throw next.error;
        ({ taken } = next);
        yield next;
        taken();
      }
    } finally {
      this.#left = true;
      // a source that waits for its item to be taken would otherwise never return, nor release what it holds
      taken();
      for (const waiting of this.#ready.splice(0)) waiting.taken();
    }
  }

  async #drain(key: KEY, source: AsyncIterable<ITEM>): Promise<void> {
    let end: { key: KEY; error?: unknown } = { key };
    try {
      for await (const item of source) {
        await this.#offer({ key, item });
        if (this.#left) break;
      }
    } catch (error) {
      end = { key, error };
    }
    this.#open -= 1;
    void this.#offer(end);
  }

  #offer(offered: { key: KEY; item?: ITEM; error?: unknown }): Promise<void> {
    return new Promise((taken) => {
      if (this.#left) return taken();
      this.#ready.push({ ...offered, taken });
      this.#wake?.();
    });
  }
}

/** What a stream yields, in order. */
export type StreamItem =
  /** An event of the trace; with the `entries` option, also the payload of the entry it is about. */
  | { type: 'event'; event: RunEvent; entry?: JsonObject }
  /** More of an answer: `text` or `thinking` that begins at `offset` (as `string.length` counts). */
  | { type: 'llm_delta'; runId: string; llmCallId: string; offset: number; text: string }
  | { type: 'llm_delta'; runId: string; llmCallId: string; offset: number; thinking: string }
  /** The whole answer so far; it replaces every earlier delta of that call. */
  | { type: 'llm_snapshot'; runId: string; llmCallId: string; text: string; thinking: string }
  /**
   * Nothing has happened for a few seconds and no worker can take the run. Sent once per reason; the stream continues.
   */
  | ({ type: 'unattended' } & UnattendedRuns);

/** Whether a completed run has a result, by its `request_completed`: in the event, or in the entry it names. */
export const hasResult = (data: JsonObject): boolean =>
  data['result_seq'] !== undefined || data['result'] !== undefined;

export interface StreamOptions {
  /** Only events after this `eventSeq`: resume an interrupted stream. Default: from the beginning. */
  after?: number;
  /** Include answers while they are written; default true. */
  deltas?: boolean;
  /** Include the payload of the entry that an event is about; default false. */
  entries?: boolean;
  /** Streams of `runs` and `threads` reject with its reason; those of `streams`, which are for servers, end quietly. */
  signal?: AbortSignal;
}
