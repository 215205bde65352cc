import type { Database } from '../../database/postgres/pool.ts';
import type { ThreadRelay } from '../queue/relay.ts';
import type { EventFeed, ThreadFeed } from './feed.ts';
import { announceMs, readersChannel, toAnnouncements, type Delta } from './deltas.ts';
import { announceReaders } from '../../database/store/trace/find-stream-start.ts';
import { after, type Timer } from '../../base/common/timer.ts';

interface Reading {
  feed: ThreadFeed;
  readers: number;
  /** Ends the subscription, once there is one. */
  stop?: () => Promise<void>;
}

/** New readers that arrive together are announced together. */
const gatherMs = 10;

/**
 * The threads whose live answers are read in this process. Notifications announce them to workers, at once and then
 * every two seconds; workers publish deltas only for announced threads. A failure here is retried with the next
 * announcement and does not affect the trace.
 */
export class Readers {
  readonly #threads = new Map<string, Reading>();
  readonly #fresh = new Set<string>();
  #gathering: Timer | undefined;
  #timer: Timer | undefined;
  #closed = false;

  constructor(
    readonly db: Database,
    readonly relay: ThreadRelay,
    readonly feed: EventFeed,
  ) {}

  /** Starts collecting live answers into the feed. Call the returned function to stop. */
  join(feed: ThreadFeed): () => void {
    const { threadId } = feed;
    let reading = this.#threads.get(threadId);
    if (!reading) {
      this.#threads.set(threadId, (reading = { feed, readers: 0 }));
      void this.#subscribe(threadId, reading);
    }
    reading.readers += 1;
    this.#schedule();
    let left = false;
    return () => {
      if (left) return;
      left = true;
      reading.readers -= 1;
      if (reading.readers > 0 || this.#threads.get(threadId) !== reading) return;
      this.#threads.delete(threadId);
      reading.stop?.().catch(() => {});
    };
  }

  /** Messages may have been lost: request the text so far again. */
  readonly recovered = (): void => this.#ask(this.#threads.keys());

  close(): void {
    this.#closed = true;
    this.#gathering?.cancel();
    this.#timer?.cancel();
  }

  async #subscribe(threadId: string, reading: Reading): Promise<void> {
    try {
      const stop = await this.relay.subscribe<Delta>(threadId, (delta) => this.#take(reading.feed, delta));
      if (this.#threads.get(threadId) !== reading) return await stop();
      reading.stop = stop;
      this.#ask([threadId]);
    } catch {
      after(
        announceMs,
        () => {
          if (!this.#closed && this.#threads.get(threadId) === reading) void this.#subscribe(threadId, reading);
        },
        { ref: false },
      );
    }
  }

  #take(feed: ThreadFeed, delta: Delta): void {
    const came = feed.live.add(delta);
    if (delta.llm_call_id === undefined) void this.feed.refresh(feed);
    else if (came === 'missing') this.#ask([feed.threadId]);
    else if (came === 'more') feed.changed();
    else if (came === 'new') void this.#place(feed, delta.llm_call_id);
  }

  /** The start of a call is committed before its answer begins, so a read now returns it and everything before it. */
  async #place(feed: ThreadFeed, callId: string): Promise<void> {
    if (!(await this.feed.refresh(feed))) return;
    const answer = feed.live.answers.get(callId);
    if (!answer || answer.placed) return;
    answer.placed = true;
    feed.changed();
  }

  #ask(threadIds: Iterable<string>): void {
    for (const id of threadIds) this.#fresh.add(id);
    if (this.#closed || this.#fresh.size === 0) return;
    this.#gathering ??= after(gatherMs, () => {
      this.#gathering = undefined;
      const fresh = [...this.#fresh].filter((id) => this.#threads.has(id));
      this.#fresh.clear();
      void this.#announce('+', fresh);
    });
  }

  #schedule(): void {
    if (this.#timer || this.#closed || this.#threads.size === 0) return;
    this.#timer = after(
      announceMs,
      () => {
        this.#timer = undefined;
        void this.#announce('=', this.#threads.keys()).then(() => this.#schedule());
      },
      { ref: false },
    );
  }

  async #announce(sign: '+' | '=', threadIds: Iterable<string>): Promise<void> {
    const payloads = toAnnouncements(sign, threadIds);
    if (payloads.length === 0 || this.#closed) return;
    await announceReaders(this.db, readersChannel, payloads).catch(() => {});
  }
}
