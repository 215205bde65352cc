import type { JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { readRows } from '../rows.ts';

/** An entry that was appended under an idempotency key, the first of its append. */
export interface Appended {
  key: string;
  seq: number;
  kind: string;
  contextRef: string;
  payload: JsonObject;
}

interface AppendedRow {
  erased: boolean;
  key: string | null;
  seq: number;
  kind: string;
  context_ref: string;
  payload: JsonObject;
}

export interface AppendedRange {
  /** The first key. */
  from: string;
  /** The keys are below this one. */
  below: string;
  limit?: number;
}

/**
 * The entries appended under a range of keys, the highest key first; `erased` if the thread was erased. The receipts of
 * appends are an index of the log by key, so a history finds its entries by keys that sort as it needs them.
 */
export async function readAppended(
  db: Database,
  threadId: string,
  { from, below, limit }: AppendedRange,
): Promise<{ erased: boolean; entries: Appended[] }> {
  const rows = await db.query<AppendedRow>(
    'read_appended',
    `select t.erased_at is not null as erased, a.key, a.seq::float8, a.kind, a.context_ref, a.payload
     from lanefold.thread t left join (
       select r.thread_id, r.op_id as key, e.seq, e.kind, e.context_ref, e.payload
       from lanefold._append_receipt r join lanefold._entry e on e.thread_id = r.thread_id and e.seq = r.first_seq
       where r.thread_id = $1 and e.thread_id = $1 and r.op_id >= $2 and r.op_id < $3
       order by r.op_id desc limit $4
     ) a on a.thread_id = t.id
     where t.id = $1 order by a.key desc`,
    [threadId, from, below, limit ?? null],
  );
  const entries = rows.flatMap(({ key, seq, kind, context_ref: contextRef, payload }) =>
    key === null ? [] : [{ key, seq, kind, contextRef, payload }],
  );
  return { erased: rows[0]?.erased ?? false, entries };
}

/** The key of a history: three words and an id, with points between them. */
export interface HistoryKey {
  threadId: string;
  key: string;
  id: string;
}

export interface KeyRange extends Omit<AppendedRange, 'limit'> {
  limit: number;
  /** Only ids below this one. */
  before?: string | undefined;
  /** Only this id. */
  only?: string | undefined;
  /** Continues after the last one of a page. */
  after?: HistoryKey | undefined;
  /** `key` where the ids of the range sort as its keys, which an index has. */
  by: 'key' | 'id';
}

/** A page of the keys of a range, the highest first, of all threads that the session sees or of one. */
export const readKeys = (
  db: Database,
  threadId: string | undefined,
  { from, below, limit, before, only, after, by }: KeyRange,
): Promise<HistoryKey[]> =>
  readRows(
    db,
    `read_keys_by_${by}${threadId === undefined ? '' : '_of'}`,
    `select thread_id, key, id from (
       select thread_id, op_id as key, substring(op_id from '^[^.]*[.][^.]*[.][^.]*[.](.*)$') as id
       from lanefold._append_receipt
       where op_id >= $1 and op_id < $2 ${threadId === undefined ? '' : 'and thread_id = $9'}
     ) k
     where ($4::text is null or id < $4) and ($5::text is null or id = $5)
       and ($6::text is null or (${by}, thread_id, key) < ($6, $7, $8))
     order by ${by} desc, thread_id desc, key desc limit $3`,
    [
      from,
      below,
      limit,
      before ?? null,
      only ?? null,
      after?.[by] ?? null,
      after?.threadId ?? null,
      after?.key ?? null,
      ...(threadId === undefined ? [] : [threadId]),
    ],
  );

/** The receipt of an append, if there was one. */
export async function readReceipt(
  db: Database,
  threadId: string,
  key: string,
): Promise<{ hash: string; seq: number } | undefined> {
  const [row] = await db.query<{ hash: string; seq: number }>(
    'read_receipt',
    'select hash, first_seq::float8 as seq from lanefold._append_receipt where thread_id = $1 and op_id = $2',
    [threadId, key],
  );
  return row;
}

export interface LaneEnds {
  rev: number;
  laneSeq: number;
  erased: boolean;
  /** The thread that this one was forked from; null for another thread. */
  forkOf: string | null;
}

/** Where a thread and one of its lanes end now; undefined for a thread that does not exist. */
export async function readEnds(db: Database, threadId: string, contextRef: string): Promise<LaneEnds | undefined> {
  const [row] = await readRows<LaneEnds>(
    db,
    'read_ends',
    `select t.rev::float8 as rev, t.erased_at is not null as erased, t.parent_thread_id as fork_of, greatest(-1,
       (select max(e.seq) from lanefold._entry e where e.thread_id = $1 and e.context_ref = $2 and e.kind = 'ai_message'),
       (select max(e.seq) from lanefold._entry e where e.thread_id = $1 and e.context_ref = $2
          and e.kind = 'ai_context_operation' and e.is_anchor))::float8 as lane_seq
     from lanefold.thread t where t.id = $1`,
    [threadId, contextRef],
  );
  return row;
}

/**
 * The entries from one to its ancestors: each names in `parent` what the key of the next one ends with. At most `limit`.
 */
export async function readAncestors(
  db: Database,
  threadId: string,
  { prefix, first, limit }: { prefix: string; first: string; limit: number },
): Promise<Appended[]> {
  const found = (id: string) => `select r.op_id as key, e.seq, e.kind, e.context_ref, e.payload
     from lanefold._append_receipt r join lanefold._entry e on e.thread_id = r.thread_id and e.seq = r.first_seq
     where r.thread_id = $1 and e.thread_id = $1 and r.op_id = $2::text || ${id} offset 0`;
  const columns = 'a.key, a.seq, a.kind, a.context_ref, a.payload';
  return readRows<Appended>(
    db,
    'read_ancestors',
    `with recursive up as (
       select 1 as n, ${columns} from (${found('$3::text')}) a
       union all
       select up.n + 1, ${columns} from up cross join lateral (${found("(up.payload ->> 'parent')")}) a where up.n < $4
     )
     select key, seq::float8, kind, context_ref, payload from up order by n`,
    [threadId, prefix, first, limit],
  );
}
