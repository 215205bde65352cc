import type { LimitKind } from '../../../agent/limits/limit.ts';
import type { Database } from '../../postgres/pool.ts';
import { listedBuckets, usageOfListed } from './listed-buckets.ts';
import { readRows } from '../rows.ts';

/** What the keys of a limit have used together. */
export interface StoredTotal extends Record<string, unknown> {
  owner: string;
  name: string;
  kind: LimitKind;
  /** The keys that were counted. */
  keys: number;
  /** The used part, 1 for all of it, of the counted key of which most is used. */
  usedRatio: number;
  /** Runs that wait for the counted keys. */
  waiting: number;
  /** Of all keys, deleted ones included; whole text, of money in billionths of a dollar. Null if not all were counted. */
  total: string | null;
}

/** How many keys of each limit are counted, those that runs wait for first. */
export const countedKeys = 1_000;

export const readTotals = (db: Database): Promise<StoredTotal[]> =>
  readRows<StoredTotal>(
    db,
    'limit_totals',
    `with page as materialized (${listedBuckets({
      limits: '($1::text is null or l.owner = $1)',
      most: String(countedKeys + 1),
    })}),
     counted as (select p.owner, p.name, p.key, row_number() over (partition by p.owner, p.name order by p.idle, p.key) as place from page p)
     select l.owner, l.name, l.kind, coalesce(t.keys, 0)::int as keys, coalesce(t.ratio, 0) as used_ratio, coalesce(t.waiting, 0)::int as waiting,
       case when t.more is not true then
         (coalesce(t.total, 0) + coalesce((select b.total from lanefold._limit_bucket b
           where b.owner = l.owner and b.name = l.name and b.key = '' and t.keyed is not false), 0))::text end as total
     from lanefold._limit l
     left join (
       select p.owner, p.name, count(*) filter (where p.place <= ${countedKeys}) as keys, bool_or(p.place > ${countedKeys}) as more,
         bool_or(p.key <> '') as keyed, sum(u.waiting) as waiting, sum(u.total) as total,
         max(case when u.amount > 0 then u.used::float8 / u.amount when u.used > 0 then 1 else 0 end) as ratio
       from counted p ${usageOfListed} and p.place <= ${countedKeys} group by p.owner, p.name) t
       on t.owner = l.owner and t.name = l.name
     where l.removed_at is null and ($1::text is null or l.owner = $1) order by l.owner, l.name`,
    [db.tenant ?? null],
  );
