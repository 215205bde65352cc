import type { Json, JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';

/** One field of the payloads of some entries, by `seq`. */
export async function readField(
  db: Database,
  threadId: string,
  seqs: readonly number[],
  field: 'parts' | 'values',
): Promise<Map<number, Json>> {
  if (seqs.length === 0) return new Map();
  const rows = await db.query<{ seq: number; value: Json }>(
    `payload_${field}`,
    `select seq::float8, payload -> '${field}' as value from lanefold._entry where thread_id = $1 and seq = any($2::bigint[])`,
    [threadId, seqs],
  );
  return new Map(rows.map(({ seq, value }) => [seq, value]));
}

/**
 * The values of a channel that others are built on: from each entry of `seqs` on, the one that it names as `base`, and
 * so on, by `seq`.
 */
export async function readBases(
  db: Database,
  threadId: string,
  channel: string,
  seqs: readonly number[],
): Promise<Map<number, JsonObject>> {
  if (seqs.length === 0) return new Map();
  const rows = await db.query<{ seq: number; value: JsonObject }>(
    'read_bases',
    `with recursive chain as (
       select seq, payload -> 'values' -> $3::text as value from lanefold._entry
       where thread_id = $1 and seq = any($2::bigint[])
       union
       select e.seq, e.value from chain cross join lateral (
         select seq, payload -> 'values' -> $3::text as value from lanefold._entry
         where thread_id = $1 and seq = (chain.value ->> 'base')::bigint offset 0
       ) e
     )
     select seq::float8, value from chain`,
    [threadId, seqs, channel],
  );
  return new Map(rows.map(({ seq, value }) => [seq, value]));
}
