import type { Database } from '../../postgres/pool.ts';
import type { Lane } from './types.ts';

export async function readLanes(db: Database, threadId: string): Promise<Lane[]> {
  const rows = await db.query<{ context_ref: string; anchor_seq: number; last_seq: number; open_calls: number }>(
    'lanes',
    `select context_ref, anchor_seq::float8, last_seq::float8, open_calls
     from lanefold.lane where thread_id = $1 order by context_ref`,
    [threadId],
  );
  return rows.map((row) => ({
    contextRef: row.context_ref,
    anchorSeq: row.anchor_seq,
    lastSeq: row.last_seq,
    openCalls: row.open_calls,
  }));
}

/** A `seq` beyond every entry: "as of now". The largest bigint, as text, because a JavaScript number cannot hold it. */
export const head = '9223372036854775807';
