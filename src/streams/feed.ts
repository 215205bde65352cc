import { toEvent, type EventRow, type RunEvent } from '../store/read-events.ts';
import type { Database } from '../postgres/pool.ts';
import { ThreadFeed } from './thread-feed.ts';

const pollMs = 250;
/** Events of one thread in one answer. */
const pageSize = 200;

/**
 * Follows the traces of threads that somebody reads. However many do, one statement at a time asks for what is new in
 * all of them: every 250 ms, and for a thread of which something was heard, at once.
 */
export class EventFeed {
  readonly #db: Database;
  readonly #feeds = new Map<string, { feed: ThreadFeed; readers: number }>();
  readonly #due = new Set<ThreadFeed>();
  #reading: Promise<unknown> = Promise.resolve();
  #next: Promise<boolean> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** `head`: the last event of the thread at this time, known where it is new. Release it by what is returned. */
  watch(threadId: string, head: number): { feed: ThreadFeed; release: () => void } {
    let watched = this.#feeds.get(threadId);
    if (!watched) this.#feeds.set(threadId, (watched = { feed: new ThreadFeed(threadId, head), readers: 0 }));
    const { feed } = watched;
    watched.readers += 1;
    if (this.#closed) feed.end();
    this.#schedule();
    let released = false;
    return {
      feed,
      release: () => {
        if (released) return;
        released = true;
        watched.readers -= 1;
        if (watched.readers === 0 && this.#feeds.get(threadId) === watched) this.#feeds.delete(threadId);
      },
    };
  }

  /** Reads what is new in a thread, in a statement that begins after this call; false where that failed. */
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

  /** Streams end; what they follow goes on. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { feed } of this.#feeds.values()) feed.end();
  }

  #schedule(): void {
    if (this.#timer || this.#closed || this.#feeds.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const { feed } of this.#feeds.values()) void this.refresh(feed);
      void (this.#next ?? this.#reading).then(() => this.#schedule());
    }, pollMs);
    this.#timer.unref();
  }

  async #read(): Promise<boolean> {
    const feeds = [...this.#due];
    this.#due.clear();
    try {
      const rows = await this.#db.query<EventRow & { watched: string; erased: boolean }>(
        'stream_events',
        // An idle thread costs one look at its row: joined, a planner that knows no statistics yet would read them all, and
        // without `offset 0` it would look again for each event.
        `select w.thread_id as watched, w.erased, e.*
         from (select u.*, (select t.erased_at is not null from lanefold.thread t
                 where t.id = u.thread_id and (t.event_rev > u.head + 1 or t.erased_at is not null)) as erased
               from unnest($1::text[], $2::bigint[]) as u (thread_id, head) offset 0) w
         left join lateral lanefold.events_after(w.thread_id, w.head, $3) e on true
         where w.erased is not null
         order by w.thread_id, e.event_seq`,
        [feeds.map((feed) => feed.threadId), feeds.map((feed) => feed.head), pageSize],
      );
      const news = new Map<string, RunEvent[]>();
      const erased = new Set<string>();
      for (const row of rows) {
        if (row.erased) erased.add(row.watched);
        else if (row.event_seq !== null) {
          const events = news.get(row.watched);
          if (events) events.push(toEvent(row));
          else news.set(row.watched, [toEvent(row)]);
        }
      }
      for (const feed of feeds) {
        const events = news.get(feed.threadId) ?? [];
        const more = events.length === pageSize;
        feed.take(events, { more });
        if (more) void this.refresh(feed);
        if (erased.has(feed.threadId)) feed.end();
      }
      return true;
    } catch {
      // a lost connection is waited out like silence
      return false;
    }
  }
}
