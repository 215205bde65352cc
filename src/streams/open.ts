import type { QuietWaits } from '../fleet/quiet-waits.ts';
import type { Database } from '../postgres/pool.ts';
import type { RunRef } from '../store/run/run.ts';
import type { QueueOptions } from '../queue/queue.ts';
import { openRelay } from '../queue/relay.ts';
import { Arrivals } from './arrivals.ts';
import { EntryPayloads } from './entries.ts';
import { EventFeed } from './feed.ts';
import { LiveCalls } from './publish-deltas.ts';
import { Readers } from './readers.ts';
import { WeakValues } from '../common/weak-values.ts';
import { openStream, type OpenStream, type StreamDeps } from './stream.ts';
import { openTreeStream, type OpenTreeStream, type TreeStreamOptions } from './tree.ts';
import type { StreamItem, StreamOptions } from './stream-item.ts';

/** What the streams of one tenant offer. */
export type TenantStreams = Pick<Streams, 'open' | 'follow' | 'openTree' | 'arrived'>;

/** The streams of a process, and the live model calls its workers publish to others. */
export interface Streams {
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
      ...{ db, feed, arrivals },
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
