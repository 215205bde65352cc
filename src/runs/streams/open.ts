import type { Database } from '../../database/postgres/pool.ts';
import { findExisting, type Subject } from '../../database/store/trace/find-stream-start.ts';
import { after, type Timer, onAbort } from '../../base/common/timer.ts';
import type { QuietWaits } from '../fleet/unattended.ts';
import type { RunRef } from '../../database/store/run/run.ts';
import type { QueueOptions } from '../queue/queue.ts';
import { openRelay } from '../queue/relay.ts';
import { EntryPayloads, EventFeed } from './feed.ts';
import { LiveCalls } from './publish-deltas.ts';
import { Readers } from './readers.ts';
import { WeakValues } from '../../base/common/caches.ts';
import { openStream, type OpenStream, type StreamDeps, type StreamItem, type StreamOptions } from './stream.ts';
import { openTreeStream, type OpenTreeStream, type TreeStreamOptions } from './tree.ts';

const pollMs = 250;

/**
 * Waits for threads and runs that do not exist yet. One statement at a time asks for all of them, however many streams
 * wait; without one, nothing is asked.
 */
class Arrivals {
  /** Of each awaited subject, what resolves its waits. */
  readonly #waiting = new Map<string, { subject: Subject; settle: Set<(exists: boolean) => void> }>();
  #timer: Timer | undefined;
  #asking = false;
  #closed = false;

  constructor(
    readonly db: Database,
    /** It is among these while streams wait. */
    private readonly active: Set<{ close(): void }> = new Set(),
  ) {}

  /** True once it exists, or its thread was erased; false when `signal` aborts, or the streams of this process end. */
  async arrived({ threadId, runId }: Subject, signal: AbortSignal): Promise<boolean> {
    if (this.#closed || signal.aborted) return false;
    const key = keyOf({ threadId, runId });
    const own = this.#waiting.get(key) ?? { subject: { threadId, runId }, settle: new Set() };
    this.#waiting.set(key, own);
    this.active.add(this);
    let settle!: (exists: boolean) => void;
    const arrival = new Promise<boolean>((resolve) => (settle = resolve));
    own.settle.add(settle);
    const unlisten = onAbort(signal, () => settle(false));
    this.#schedule();
    try {
      return await arrival;
    } finally {
      unlisten();
      own.settle.delete(settle);
      if (own.settle.size === 0 && this.#waiting.get(key) === own) this.#waiting.delete(key);
      if (this.#waiting.size === 0) this.#rest();
    }
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    for (const { settle } of this.#waiting.values()) for (const end of settle) end(false);
  }

  #rest(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.active.delete(this);
  }

  #schedule(): void {
    if (this.#timer || this.#asking || this.#closed || this.#waiting.size === 0) return;
    this.#timer = after(
      pollMs,
      () => {
        this.#timer = undefined;
        this.#asking = true;
        void this.#ask().finally(() => {
          this.#asking = false;
          this.#schedule();
        });
      },
      { ref: false },
    );
  }

  async #ask(): Promise<void> {
    const asked = [...this.#waiting.values()].map(({ subject }) => subject);
    // the next poll may reach a database that does not answer now
    const found = await findExisting(this.db, asked).catch(() => []);
    for (const subject of found) for (const settle of this.#waiting.get(keyOf(subject))?.settle ?? []) settle(true);
  }
}

const keyOf = ({ threadId, runId = '' }: Subject): string => `${threadId} ${runId}`;

/** What the streams of one tenant offer. */
export interface TenantStreams {
  /** @throws LanefoldError `thread_not_found`, `thread_erased`, `run_not_found` */
  open(threadId: string, runId: string | undefined, options?: StreamOptions): Promise<OpenStream>;
  /** As `open`, but opens the stream when iteration starts. */
  follow(threadId: string, runId: string | undefined, options?: StreamOptions): AsyncGenerator<StreamItem, void, void>;
  /** The stream of a run and the runs below it; throws as `open`, and `invalid_input` for a cursor of something else. */
  openTree(run: RunRef, options?: TreeStreamOptions): Promise<OpenTreeStream>;
  /**
   * Waits for a thread or a run that does not exist yet. True once it does, or its thread was erased; false when `signal`
   * aborts, or the streams of this process end.
   */
  arrived(threadId: string, runId: string | undefined, signal: AbortSignal): Promise<boolean>;
}

/** The streams of a process, and the live model calls its workers publish to others. */
export interface Streams extends TenantStreams {
  /** Streams over these connections, which belong to one tenant. They end with the others. */
  forTenant(db: Database): TenantStreams;
  /** The model calls of this process. */
  readonly live: LiveCalls;
  /** Ends every stream. */
  close(): Promise<void>;
}

/**
 * Opens no connection and runs no statement before the first stream.
 *
 * @param quietOn watches streams for runs that no worker can take, over connections of one tenant or of all
 */
export function openStreams(db: Database, queue: QueueOptions, quietOn: (db: Database) => QuietWaits): Streams {
  const opened = new WeakValues<symbol, StreamDeps & { arrivals: Arrivals }>();
  const relay = openRelay(queue, () => {
    for (const { readers } of opened) readers.recovered();
  });
  const live = new LiveCalls(relay);
  // a reader that was abandoned, with its library, must not keep a feed polling after the end
  const active = new Set<{ close(): void }>();
  const streamsOf = (db: Database): TenantStreams => {
    const feed = new EventFeed(db, active);
    const arrivals = new Arrivals(db, active);
    const deps = {
      db,
      feed,
      arrivals,
      readers: new Readers(db, relay, feed),
      payloads: new EntryPayloads(db),
      quiet: quietOn(db),
    };
    opened.set(Symbol(), deps);
    const open: Streams['open'] = (threadId, runId, options) => openStream(deps, threadId, runId, options);
    return {
      open,
      arrived: (threadId, runId, signal) => arrivals.arrived({ threadId, runId }, signal),
      openTree: (run, options) => openTreeStream(deps, run, options),
      async *follow(threadId, runId, options) {
        yield* (await open(threadId, runId, options)).items;
      },
    };
  };
  return {
    ...streamsOf(db),
    forTenant: streamsOf,
    live,
    async close() {
      for (const { feed, arrivals } of opened) {
        feed.close();
        arrivals.close();
      }
      for (const waiting of active) waiting.close();
      for (const { readers } of opened) readers.close();
      live.close();
      await relay.close();
    },
  };
}
