import type { LimitKind } from '../../limits/limit.ts';
import type { Database } from '../../postgres/pool.ts';

/** What all keys of a limit have used together. */
export interface StoredTotal extends Record<string, unknown> {
  owner: string;
  name: string;
  kind: LimitKind;
  /** The used part, 1 for all of it, of the key of which most is used. */
  usedRatio: number;
  waiting: number;
  /** Whole text; of money in billionths of a dollar. */
  total: string;
}

/** Reads every bucket. */
export const readTotals = (db: Database): Promise<StoredTotal[]> =>
  db.query<StoredTotal>(
    'limit_totals',
    `select owner, name, kind, max(case when amount > 0 then used::float8 / amount when used > 0 then 1 else 0 end) as "usedRatio",
       coalesce(sum(waiting), 0)::int as waiting, coalesce(sum(total), 0)::text as total
     from lanefold.limit_usage where $1::text is null or owner = $1 group by owner, name, kind order by owner, name`,
    [db.tenant ?? null],
  );
