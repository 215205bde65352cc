import type { JsonObject } from '../context/message.ts';
import { readThreadEvents, type RunEvent } from '../store/read-events.ts';
import { assertId } from '../ids.ts';
import type { Database } from '../postgres/pool.ts';
import type { Answers } from './entries.ts';
import type { EventFeed } from './feed.ts';
import { isTerminal } from './live-text.ts';
import { patiently } from './until-reachable.ts';
import { findPlace, type Place } from '../store/find-stream-start.ts';
import type { Readers } from './readers.ts';
import { Told } from './cursor.ts';

/** What a stream gives, in order. */
export type StreamItem =
  /** An event of the trace; with `entries` and where it is about one, the payload of its entry. */
  | { type: 'event'; event: RunEvent; entry?: JsonObject }
  /** More of an answer: `text` or `thinking` that stands at `offset` (as `string.length` counts). */
  | { type: 'llm_delta'; runId: string; llmCallId: string; offset: number; text: string }
  | { type: 'llm_delta'; runId: string; llmCallId: string; offset: number; thinking: string }
  /** All of an answer so far, instead of what was heard of it before. */
  | { type: 'llm_snapshot'; runId: string; llmCallId: string; text: string; thinking: string };

export interface StreamOptions {
  /** Only events after this `eventSeq`: go on where a stream broke off. Default: from the beginning. */
  after?: number;
  /** Answers while they are written; default true. */
  deltas?: boolean;
  /** Events bring the payload of the entry they are about; default false. */
  entries?: boolean;
  /** Ends the stream quietly. */
  signal?: AbortSignal;
}

export interface StreamDeps {
  db: Database;
  feed: EventFeed;
  readers: Readers;
  answers: Answers;
}

/** Events a reader that is behind gets at once: the next page is read when these were taken. */
const pageSize = 100;

/** A stream that has been opened: what it is of exists. */
export interface OpenStream {
  items: AsyncGenerator<StreamItem, void, void>;
  /** The run had ended, and all its events were before `after`: nothing will come. */
  over: boolean;
}

/**
 * Opens the stream of a thread, or of one run of it. Events come once each, in order, whatever breaks; the stream of a
 * run ends after its last one. Of an answer whose beginning the stream has told, deltas make up the stored text; of one
 * that had begun before, a snapshot comes first.
 *
 * @throws LanefoldError `thread_not_found`, `thread_erased`, `run_not_found`
 */
export async function openStream(
  deps: StreamDeps,
  threadId: string,
  runId: string | undefined,
  options: StreamOptions = {},
): Promise<OpenStream> {
  assertId(threadId, 'The thread id');
  if (runId !== undefined) assertId(runId, 'The run id');
  const place = await findPlace(deps.db, threadId, runId);
  const from = Math.max(options.after ?? -1, place.first - 1, -1);
  const over = place.ended && from >= (place.last ?? place.head);
  return { items: follow(deps, threadId, runId, from, place, options), over };
}

async function* follow(
  { db, feed: events, readers, answers }: StreamDeps,
  threadId: string,
  runId: string | undefined,
  from: number,
  place: Place,
  { deltas = true, entries = false, signal }: StreamOptions,
): AsyncGenerator<StreamItem, void, void> {
  let at = from;
  let ended = place.ended;
  const { feed, release } = events.watch(threadId, place.head);
  const leave = deltas ? readers.join(feed) : undefined;
  const told = new Told(place.head);
  if (feed.head < place.head) void events.refresh(feed);
  try {
    while (!signal?.aborted) {
      const { version } = feed;
      const page = feed.since(at) ?? (await patiently(() => readThreadEvents(db, threadId, at, pageSize)));
      const own = page.filter((event) => runId === undefined || event.runId === runId);
      const payloads = await answers.of(threadId, own, { deltas, entries });
      for (const event of own) {
        const entry = payloads.get(event.data['seq'] as number);
        if (deltas) yield* told.before(event, entry);
        at = event.eventSeq;
        yield { type: 'event', event, ...(entries && entry ? { entry } : {}) };
        if (signal?.aborted) return;
        ended ||= runId !== undefined && isTerminal(event.kind);
      }
      at = Math.max(at, page.at(-1)?.eventSeq ?? -1);
      // what comes after the last event of an ended run is of others
      if (place.ended && place.last !== undefined && at >= place.last) return;
      if (page.length > 0) continue;
      if (feed.ended || (ended && at >= place.head && !feed.more)) return;
      // here all of the trace that is known was told: answers under way come after it
      if (deltas && at >= feed.head) {
        for (const answer of feed.live.answers.values())
          if (answer.placed && (runId === undefined || answer.runId === runId)) yield* told.more(answer);
      }
      await feed.changedSince(version, signal);
    }
  } finally {
    leave?.();
    release();
  }
}
