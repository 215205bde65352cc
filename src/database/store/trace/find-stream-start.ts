import type { RunEvent } from './types.ts';
import type { Database } from '../../postgres/pool.ts';
import { runNotFound, threadErased, threadNotFound } from '../missing.ts';
import { overThreads } from '../each-thread.ts';
import { toEvent, type EventRow } from './read-events.ts';

/** Where a stream begins. */
export interface StreamStart {
  /** The first event of the run, or of the thread; where there is none yet, the number the next one will have. */
  first: number;
  /** The last event of the thread; -1 for none. */
  head: number;
  /** The last event of the run so far; undefined where it has none. */
  last: number | undefined;
  /** The run has ended. */
  ended: boolean;
}

interface Row {
  rev: string;
  erased: boolean;
  known: boolean;
  ended: boolean;
  first: string | null;
  last: string | null;
}

/** @throws LanefoldError `thread_not_found`, `thread_erased`, `run_not_found` */
export async function findStreamStart(db: Database, threadId: string, runId: string | undefined): Promise<StreamStart> {
  const [row] = await db.query<Row>(
    'find_stream_start',
    `select t.event_rev as rev, t.erased_at is not null as erased, r.id is not null as known, r.finished_at is not null as ended,
       own.first, own.last
     from lanefold.thread t
     left join lanefold._run r on r.thread_id = t.id and r.id = $2
     left join lateral (
       select min(b.event_seq) as first, max(b.event_seq + jsonb_array_length(b.events)) - 1 as last
       from lanefold._run_batch b where b.thread_id = $1 and b.run_id = $2
     ) own on true
     where t.id = $1`,
    // no run has an empty id; with null, Citus does not see that one thread is asked for
    [threadId, runId ?? ''],
  );
  if (row?.erased) throw threadErased(threadId);
  if (runId !== undefined && !row?.known) throw runNotFound(threadId, runId);
  if (!row) throw threadNotFound(threadId);
  const next = Number(row.rev);
  return {
    first: runId === undefined ? 0 : Number(row.first ?? next),
    last: row.last === null ? undefined : Number(row.last),
    head: next - 1,
    ended: row.ended,
  };
}

/** Sends payloads of under 8,000 bytes to all listeners of a channel. */
export async function announceReaders(db: Database, channel: string, payloads: readonly string[]): Promise<void> {
  await db.query('announce_readers', 'select pg_notify($1, x) from unnest($2::text[]) x', [channel, payloads]);
}

/** A thread, or one of its runs. */
export interface Subject {
  threadId: string;
  runId: string | undefined;
}

interface FoundRow {
  thread_id: string;
  run_id: string;
}

/** The ones that exist, or never will because their thread was erased. One index probe for each. */
export async function findExisting(db: Database, subjects: readonly Subject[]): Promise<Subject[]> {
  const rows = await overThreads(db, subjects, {
    together: () =>
      db.query<FoundRow>(
        'existing_subjects',
        `select w.thread_id, w.run_id
         from unnest($1::text[], $2::text[]) as w (thread_id, run_id)
         cross join lateral (
           select from lanefold.thread t
           left join lanefold._run r on r.thread_id = t.id and r.id = w.run_id
           where t.id = w.thread_id and (w.run_id = '' or r.id is not null or t.erased_at is not null)
           limit 1
         ) own`,
        [subjects.map(({ threadId }) => threadId), subjects.map(({ runId = '' }) => runId)],
      ),
    one: ({ threadId, runId = '' }) =>
      db.query<FoundRow>(
        'existing_subject',
        `select $1 as thread_id, $2 as run_id from lanefold.thread t
         left join lanefold._run r on r.thread_id = t.id and r.id = $2
         where t.id = $1 and ($2 = '' or r.id is not null or t.erased_at is not null)`,
        [threadId, runId],
      ),
  });
  return rows.map(({ thread_id: threadId, run_id: runId }) => ({ threadId, runId: runId === '' ? undefined : runId }));
}

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
