import type { RunEvent } from '../../database/store/trace/types.ts';
import type { Database } from '../../database/postgres/pool.ts';
import { readNewEvents } from '../../database/store/trace/find-stream-start.ts';
import { after, type Timer, delay, onAbort } from '../../base/common/timer.ts';
import { isLanefoldError } from '../../base/errors.ts';
import { LiveText } from './deltas.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import { readPayloads } from '../../database/store/log/read-entries.ts';

const pollMs = 250;
/** Events of one thread per poll result. */
const pageSize = 200;

/**
 * Follows the traces of threads that have readers. One statement at a time polls all of them, however many there are:
 * every 250 ms, and at once for a thread that was notified.
 */
export class EventFeed {
  readonly #db: Database;
  readonly #feeds = new Map<string, { feed: ThreadFeed; readers: number }>();
  readonly #due = new Set<ThreadFeed>();
  #reading: Promise<unknown> = Promise.resolve();
  #next: Promise<boolean> | undefined;
  #timer: Timer | undefined;
  #closed = false;

  /** @param active it is among these while it has readers */
  constructor(
    db: Database,
    private readonly active: Set<{ close(): void }> = new Set(),
  ) {
    this.#db = db;
  }

  /** `head`: the thread's last event now; used if no stream watches the thread yet. Call `release` when done. */
  watch(threadId: string, head: number): { feed: ThreadFeed; release: () => void } {
    let watched = this.#feeds.get(threadId);
    if (!watched) this.#feeds.set(threadId, (watched = { feed: new ThreadFeed(threadId, head), readers: 0 }));
    const { feed } = watched;
    watched.readers += 1;
    if (this.#closed) feed.end();
    this.active.add(this);
    this.#schedule();
    let released = false;
    return {
      feed,
      release: () => {
        if (released) return;
        released = true;
        watched.readers -= 1;
        if (watched.readers === 0 && this.#feeds.get(threadId) === watched) this.#feeds.delete(threadId);
        if (this.#feeds.size === 0) this.active.delete(this);
      },
    };
  }

  /** Reads new events of a thread, with a statement that begins after this call; false if it failed. */
  refresh(feed: ThreadFeed): Promise<boolean> {
    this.#due.add(feed);
    this.#next ??= this.#reading.then(() => {
      this.#next = undefined;
      const read = this.#read();
      this.#reading = read;
      return read;
    });
    return this.#next;
  }

  /** Ends the streams; the runs they follow continue. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    for (const { feed } of this.#feeds.values()) feed.end();
  }

  #schedule(): void {
    if (this.#timer || this.#closed || this.#feeds.size === 0) return;
    this.#timer = after(
      pollMs,
      () => {
        this.#timer = undefined;
        for (const { feed } of this.#feeds.values()) void this.refresh(feed);
        void (this.#next ?? this.#reading).then(() => this.#schedule());
      },
      { ref: false },
    );
  }

  async #read(): Promise<boolean> {
    const feeds = [...this.#due];
    this.#due.clear();
    try {
      const news = await readNewEvents(this.#db, feeds, pageSize);
      for (const feed of feeds) {
        const { events, erased } = news.get(feed.threadId) ?? { events: [], erased: false };
        const more = events.length === pageSize;
        feed.take(events, { more });
        if (more) void this.refresh(feed);
        if (erased) feed.end();
      }
      return true;
    } catch {
      // the next poll may reach the database again
      return false;
    }
  }
}

const pauseMs = 500;

/** Retries a read until the database can be reached: a stream outlives a lost connection. */
export async function untilReachable<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!isLanefoldError(error, 'database_unreachable') && !isLanefoldError(error, 'database_busy')) throw error;
      await delay(pauseMs);
    }
  }
}

/** Number of recent events kept for readers that keep up; readers further behind read their own pages. */
const kept = 256;

/**
 * The newest events of a thread in this process, shared by all its readers. Memory is bounded, however many readers
 * there are.
 */
export class ThreadFeed {
  /** The last event read; -1 for none. */
  head: number;
  /** Increases with every change. */
  version = 0;
  /** True once nothing more will come: the thread was erased, or this process closes. */
  ended = false;
  /** True if the last page was full, so more events are already stored. */
  more = false;
  readonly live = new LiveText();
  #recent: RunEvent[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(
    readonly threadId: string,
    head: number,
  ) {
    this.head = head;
  }

  take(events: RunEvent[], { more }: { more: boolean }): void {
    this.more = more;
    const fresh = events.filter((event) => event.eventSeq > this.head);
    if (fresh.length === 0) return;
    for (const event of fresh) this.live.pass(event);
    this.#recent = [...this.#recent, ...fresh].slice(-kept);
    this.head = fresh.at(-1)!.eventSeq;
    this.changed();
  }

  /** The events after `after`; undefined if they are not in memory. */
  since(after: number): RunEvent[] | undefined {
    if (after >= this.head) return [];
    const first = this.#recent[0]?.eventSeq;
    if (first === undefined || after < first - 1) return undefined;
    return this.#recent.slice(after + 1 - first);
  }

  changed(): void {
    this.version += 1;
    for (const wake of [...this.#waiting]) wake();
  }

  end(): void {
    this.ended = true;
    this.changed();
  }

  /** Resolves when the version differs from `version`, or the signal aborts. */
  async changedSince(version: number, signal?: AbortSignal): Promise<void> {
    if (version !== this.version || signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        unlisten();
        resolve();
      };
      this.#waiting.add(wake);
      const unlisten = onAbort(signal, wake);
    });
  }
}

type Payloads = Map<number, JsonObject>;

/** How long an entry stays cached: other streams of its thread need it at the same moment. */
const sharedMs = 1_000;

/** Reads the entries that events are about: one statement per page, shared by all streams that deliver it. */
export class EntryPayloads {
  readonly #db: Database;
  readonly #shared = new WeakMap<RunEvent, Promise<Payloads>>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Payloads by `seq`: those of answers if `deltas` is set, of all entries if `entries` is set. */
  async of(threadId: string, events: RunEvent[], want: { deltas: boolean; entries: boolean }): Promise<Payloads> {
    const wanted = events.filter(
      ({ kind, data }) =>
        typeof data['seq'] === 'number' && (want.entries || (want.deltas && kind === 'llm_completed')),
    );
    if (wanted.length === 0) return new Map();
    const missing = wanted.filter((event) => !this.#shared.has(event));
    if (missing.length > 0) this.#read(threadId, missing);
    const found = await Promise.all(new Set(wanted.map((event) => this.#shared.get(event)!)));
    return found.length === 1 ? found[0]! : new Map(found.flatMap((payloads) => [...payloads]));
  }

  #read(threadId: string, events: RunEvent[]): void {
    const seqs = events.map((event) => event.data['seq'] as number);
    const reading = untilReachable(() => readPayloads(this.#db, threadId, seqs));
    for (const event of events) this.#shared.set(event, reading);
    const forget = () => {
      for (const event of events) this.#shared.delete(event);
    };
    reading.then(() => after(sharedMs, forget, { ref: false }), forget);
  }
}
