import type { limit } from '../../../../db/schema/limit.ts';
import { call } from '../call.ts';
import type { StoredLimit } from '../../../agent/limits/limit.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import type { Database } from '../../postgres/pool.ts';
import { readRows } from '../rows.ts';

/** A limit with its history. */
export type KeptLimit = StoredLimit &
  Pick<typeof limit.$inferSelect, 'owner' | 'name' | 'createdAt' | 'updatedAt' | 'updatedBy' | 'removedAt'>;

/** Sets a limit; see `set_limit`. Returns its version. */
export async function setLimit(
  db: Database,
  owner: string,
  name: string,
  { amount, amounts, reserve, ...limit }: Omit<StoredLimit, 'version'>,
  by: string,
): Promise<number> {
  return call(db.query, 'set_limit', {
    owner,
    name,
    p: {
      ...snakeKeys(limit),
      amount: String(amount),
      amounts: each(amounts, String),
      reserve: each(reserve, String),
      by,
    },
  });
}

/** Removes a limit. Returns false if there is none. */
export async function removeLimit(db: Database, owner: string, name: string, by: string): Promise<boolean> {
  return call(db.query, 'remove_limit', { owner, name, by });
}

/** The limits in force, by owner and name. */
export const readLimits = (db: Database): Promise<KeptLimit[]> =>
  select(db, 'read_limits', 'removed_at is null and ($1::text is null or owner = $1)', db.tenant ?? null);

/** A limit, also one that was removed. */
export const readLimit = async (db: Database, owner: string, name: string): Promise<KeptLimit | undefined> =>
  (await select(db, 'read_limit', 'owner = $1 and name = $2', owner, name))[0];

interface Row extends Omit<KeptLimit, 'amount' | 'amounts' | 'reserve'> {
  amount: string;
  amounts: Record<string, string> | null;
  reserve: Record<string, string> | null;
}

async function select(db: Database, name: string, condition: string, ...values: unknown[]): Promise<KeptLimit[]> {
  const rows = await readRows<Row>(
    db,
    name,
    // as text, because a number of JavaScript is not exact above 2^53
    `select owner, name, kind, scope, amount, (select json_object_agg(a.key, a.value) from jsonb_each_text(l.amounts) a) as amounts,
       (select json_object_agg(a.key, a.value) from jsonb_each_text(l.reserve) a) as reserve, tokens,
       per_ms::float8 as per_ms, calendar, time_zone, share_by, shares, on_exhausted, version::float8,
       created_at, updated_at, updated_by, removed_at
     from lanefold._limit l where ${condition} order by owner, name`,
    values,
  );
  return rows.map(({ amount, amounts, reserve, ...row }) => ({
    ...row,
    amount: BigInt(amount),
    amounts: each(amounts, BigInt),
    reserve: each(reserve, BigInt),
  }));
}

const each = <A, B>(all: Record<string, A> | null, convert: (one: A) => B): Record<string, B> | null =>
  all && Object.fromEntries(Object.entries(all).map(([key, one]) => [key, convert(one)]));
