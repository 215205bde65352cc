import type { RunEvent } from '../run/types.ts';
import type { Database } from '../../postgres/pool.ts';
import { overThreads } from '../each-thread.ts';
import { toEvent, type EventRow } from './read-events.ts';

/** What is new in a thread. */
export interface ThreadNews {
  events: RunEvent[];
  erased: boolean;
}

type NewsRow = EventRow & { thread_id: string; erased: boolean };

/** What is new after each thread's `head`, by thread. An idle thread has no news and costs one index probe. */
export async function readNewEvents(
  db: Database,
  threads: readonly { threadId: string; head: number }[],
  limit: number,
): Promise<Map<string, ThreadNews>> {
  const rows = await overThreads(db, threads, {
    together: () =>
      db.query<NewsRow>(
        'new_events',
        `select w.thread_id, e.erased, e.event_seq, e.run_id, e.seq, e.kind, e.iteration, e.data, e.at
         from unnest($1::text[], $2::bigint[]) as w (thread_id, head)
         cross join lateral lanefold.new_events(w.thread_id, w.head, $3) e`,
        [threads.map((thread) => thread.threadId), threads.map((thread) => thread.head), limit],
      ),
    one: ({ threadId, head }) =>
      db.query<NewsRow>(
        'new_events_of',
        'select $1 as thread_id, erased, event_seq, run_id, seq, kind, iteration, data, at from lanefold.new_events($1, $2, $3)',
        [threadId, head, limit],
      ),
  });
  const news = new Map<string, ThreadNews>();
  for (const row of rows) {
    let thread = news.get(row.thread_id);
    if (!thread) news.set(row.thread_id, (thread = { events: [], erased: false }));
    if (row.erased) thread.erased = true;
    else thread.events.push(toEvent(row));
  }
  return news;
}
