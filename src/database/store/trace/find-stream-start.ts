import type { Database } from '../../postgres/pool.ts';
import { runNotFound, threadErased, threadNotFound } from '../missing.ts';

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
       select min(b.event_seq) as first, max(b.event_seq + json_array_length(b.events)) - 1 as last
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
