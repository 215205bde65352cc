import type { Json, JsonObject } from '../../../agent/context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { LanefoldError } from '../../../base/errors.ts';

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

/** The frameworks whose histories the log keeps. */
export const historyOwners = ['langgraph', 'openai_agents'];

/**
 * Refuses kinds and idempotency keys of entries that only `appendHistory` may write: a history is found by its keys and
 * read by its kinds, so such an entry of a caller would become part of it.
 *
 * @throws LanefoldError `reserved_kind`
 */
export function assertNotHistory(kinds: readonly unknown[], idempotencyKey: string | undefined): void {
  for (const owner of historyOwners) {
    const kind = kinds.find((each) => typeof each === 'string' && each.startsWith(`${owner}_`));
    if (kind !== undefined) throw reserved(`The kind ${kind as string} is`, `kinds that do not begin with ${owner}_`);
    if (idempotencyKey?.startsWith(`${owner}.`))
      throw reserved(`The idempotency key ${idempotencyKey} is`, `keys that do not begin with ${owner}.`);
  }
}

const reserved = (what: string, instead: string): LanefoldError =>
  new LanefoldError('reserved_kind', `${what} reserved for the history of another framework.`, {
    hint: `Nothing was written. Use ${instead}`,
  });

/** An entry of a history that does not have the form in which Lanefold writes it. */
export const unreadable = (what: string, cause?: unknown): LanefoldError =>
  new LanefoldError('history_unreadable', `${what} does not have the form in which Lanefold writes it.`, {
    hint: 'Nothing was written. Another program may have changed the log: compare it with a backup.',
    ...(cause === undefined ? {} : { cause }),
  });
