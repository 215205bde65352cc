import type { LimitKind } from '../../limits/limit.ts';
import type { Database } from '../../postgres/pool.ts';

/** What was used of a bucket. Amounts are whole text; of money in billionths of a dollar. */
export interface BucketUse {
  owner: string;
  name: string;
  kind: LimitKind;
  /** See `bucketKey`. */
  key: string;
  amount: string;
  used: string;
  reserved: string;
  waiting: number;
  total: string;
  /** When the calendar interval ends. Null for other limits. */
  resetsAt: Date | null;
  drainedUntil: Date | null;
  noticedAt: Date | null;
  /** Use in each 1/32 of a sliding interval, oldest first. Null for other limits. */
  slices: string[] | null;
  /** Runs that wait, by value of the sharing dimension. */
  waitingBy: Record<string, number> | null;
}

export interface UsageQuery {
  name?: string | undefined;
  /** Buckets of each limit. */
  limit: number;
}

/**
 * The buckets of limits by owner and name. Of each limit, those that most runs wait for come first, then those of which
 * most was used. A bucket from before the scope of its limit changed is left out.
 */
export const readUsage = (db: Database, { name, limit }: UsageQuery): Promise<BucketUse[]> =>
  db.query<BucketUse & Record<string, unknown>>(
    'limit_usage',
    `select owner, name, kind, key, amount, used, reserved, waiting, total, "resetsAt", "drainedUntil", "noticedAt", slices, "waitingBy" from (
       select u.owner, u.name, u.kind, coalesce(u.key, '') as key, u.amount, u.used, u.reserved, u.waiting, u.total,
         case when u.calendar is not null then
           -- a day of the zone may have 23 hours
           (date_trunc(u.calendar, c.at at time zone z.name) + ('1 ' || u.calendar)::interval) at time zone z.name end as "resetsAt",
         case when u.drained_until > c.at then u.drained_until end as "drainedUntil", u.noticed_at as "noticedAt", u.slices, u.waiting_by as "waitingBy",
         row_number() over (partition by u.owner, u.name order by u.waiting desc, u.used::float8 / greatest(u.amount, 1) desc, u.key) as place
       from lanefold.limit_usage u
       cross join (select lanefold._now() as at) c
       cross join lateral (select coalesce(u.time_zone, 'UTC') as name) z
       where ($1::text is null or u.name = $1) and ($2::text is null or u.owner = $2)
         and (coalesce(u.key, '') <> '') = exists (select from jsonb_each_text(u.scope) s where s.value = '*')) b
     where place <= $3
     order by owner, name, place`,
    [name ?? null, db.tenant ?? null, limit],
  );
