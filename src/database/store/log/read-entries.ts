import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import type { ThreadEntry } from './types.ts';

export interface EntryFilter {
  after: number;
  kind?: string | undefined;
  contextRef?: string | undefined;
  limit: number;
  /** Ends the page after this many bytes of payloads and refs; it has at least one entry. Default: no limit. */
  maxBytes?: number | undefined;
}

export interface EntryPage {
  entries: ThreadEntry[];
  /** The page ended because it reached `maxBytes`. */
  cut: boolean;
}

const columns = ['seq', 'kind', 'context_ref', 'role', 'op_id', 'run_id', 'request_id', 'payload', 'refs', 'at'];

/** Entries of a thread in order. Reads them one by one, because the size of an entry is known only once it is read. */
export async function readEntries(db: Database, threadId: string, filter: EntryFilter): Promise<EntryPage> {
  const { after, kind, contextRef, limit, maxBytes } = filter;
  const rows = await db.query<Record<string, never>>(
    'entries',
    `with recursive page as (
       (select 1 as n, (octet_length(payload::text) + octet_length(refs::text))::bigint as bytes, ${columns.join(', ')} from lanefold.thread_entry
        where thread_id = $1 and seq > $2 and ($3::text is null or kind = $3) and ($4::text is null or context_ref = $4)
        order by seq limit 1)
       union all
       select page.n + 1, page.bytes + octet_length(e.payload::text) + octet_length(e.refs::text), ${columns.map((column) => `e.${column}`).join(', ')}
       from page cross join lateral (
         select ${columns.join(', ')} from lanefold.thread_entry
         where thread_id = $1 and seq > page.seq and ($3::text is null or kind = $3) and ($4::text is null or context_ref = $4)
         order by seq limit 1
       ) e
       where page.n < $5 and page.bytes < $6
     )
     select bytes, ${columns.join(', ')} from page order by seq`,
    [threadId, after, kind ?? null, contextRef ?? null, limit, maxBytes ?? Number.MAX_SAFE_INTEGER],
  );
  const entries = rows.map((row) => ({
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
  const last = rows.at(-1)?.['bytes'] ?? 0;
  return { entries, cut: entries.length < limit && maxBytes !== undefined && Number(last) >= maxBytes };
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
