import type { RunEvent } from './types.ts';
import type { Database } from '../../postgres/pool.ts';

const columns = 'event_seq, run_id, seq, kind, iteration, data, at';

/** Events of a thread after an `eventSeq`, in order. */
export async function readThreadEvents(
  db: Database,
  threadId: string,
  after: number,
  limit: number,
): Promise<RunEvent[]> {
  const rows = await db.query<Record<string, never>>(
    'thread_events',
    `select ${columns} from lanefold.events_after($1, $2, $3)`,
    [threadId, after, limit],
  );
  return rows.map(toEvent);
}

/** Events of a run after an `eventSeq`, in order. */
export async function readRunEvents(
  db: Database,
  threadId: string,
  runId: string,
  after: number,
  limit: number,
): Promise<RunEvent[]> {
  const rows = await db.query<Record<string, never>>(
    'run_events',
    `select ${columns} from lanefold.run_event
     where thread_id = $1 and run_id = $2 and event_seq > $3 order by event_seq limit $4`,
    [threadId, runId, after, limit],
  );
  return rows.map(toEvent);
}

export type EventRow = Record<string, never>;

export const toEvent = (row: EventRow): RunEvent => ({
  eventSeq: Number(row['event_seq']),
  runId: row['run_id']!,
  seq: row['seq']!,
  kind: row['kind']!,
  iteration: row['iteration']!,
  data: row['data']!,
  at: row['at']!,
});
