import type { Database } from '../../database/postgres/pool.ts';
import { readNewEvents } from '../../database/store/trace/read-new-events.ts';
import { ThreadFeed } from './thread-feed.ts';
import { after, type Timer } from '../../base/common/timer.ts';

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
