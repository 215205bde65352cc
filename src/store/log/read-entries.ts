import type { JsonObject } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';

export interface Entry {
  seq: number;
  kind: string;
  contextRef: string | null;
  role: string | null;
  opId: string | null;
  runId: string | null;
  requestId: string | null;
  payload: JsonObject;
  refs: JsonObject;
  at: Date;
}

export interface EntryFilter {
  after: number;
  kind?: string | undefined;
  contextRef?: string | undefined;
  limit: number;
}

export async function readEntries(db: Database, threadId: string, filter: EntryFilter): Promise<Entry[]> {
  const { after, kind, contextRef, limit } = filter;
  const rows = await db.query<Record<string, never>>(
    'entries',
    `select seq, kind, context_ref, role, op_id, run_id, request_id, payload, refs, at
     from lanefold.thread_entry where thread_id = $1 and seq > $2 and ($3::text is null or kind = $3)
       and ($4::text is null or context_ref = $4) order by seq limit $5`,
    [threadId, after, kind ?? null, contextRef ?? null, limit],
  );
  return rows.map((row) => ({
    seq: Number(row['seq']),
    kind: row['kind']!,
    contextRef: row['context_ref']!,
    role: row['role']!,
    opId: row['op_id']!,
    runId: row['run_id']!,
    requestId: row['request_id']!,
    payload: row['payload']!,
    refs: row['refs']!,
    at: row['at']!,
  }));
}

/** The payloads of some entries, by `seq`. */
export async function readPayloads(db: Database, threadId: string, seqs: number[]): Promise<Map<number, JsonObject>> {
  const rows = await db.query<{ seq: string; payload: JsonObject }>(
    'payloads',
    'select seq, payload from lanefold.thread_entry where thread_id = $1 and seq = any($2::bigint[])',
    [threadId, seqs],
  );
  return new Map(rows.map((row) => [Number(row.seq), row.payload]));
}
