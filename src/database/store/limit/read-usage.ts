import type { LimitKind } from '../../../agent/limits/limit.ts';
import type { Database } from '../../postgres/pool.ts';
import { bucketCursor, listedBuckets, readBucketCursor, usageOfListed } from './listed-buckets.ts';
import { readRows } from '../rows.ts';

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
  /** Its place in the list. */
  cursor: string;
}

export interface UsageQuery {
  name?: string | undefined;
  /** The cursor of a bucket: those of its limit that come after it. */
  after?: string | undefined;
  /** Buckets of each limit. */
  limit: number;
}

/** The buckets of limits by owner and name, as `listedBuckets` orders them. */
export async function readUsage(db: Database, { name, after, limit }: UsageQuery): Promise<BucketUse[]> {
  const from = readBucketCursor(after);
  const rows = await readRows<Omit<BucketUse, 'cursor'> & { idle: boolean }>(
    db,
    'limit_usage',
    `with page as materialized (${listedBuckets({
      limits: `($1::text is null or l.name = $1) and ($2::text is null or l.owner = $2)
        and ($3::text is null or l.owner = $3 and l.name = $4)`,
      after: { idle: '$5::boolean', key: '$6::text', isNone: '$3::text is null' },
      most: '$7',
    })})
     select p.owner, p.name, l.kind, p.key, p.idle, coalesce(u.amount, l.amount) as amount, coalesce(u.used, 0) as used,
       coalesce(u.reserved, 0) as reserved, coalesce(u.waiting, 0) as waiting, coalesce(u.total, 0) as total,
       case when l.calendar is not null then
         -- a day of the zone may have 23 hours
         (date_trunc(l.calendar, c.at at time zone z.name) + ('1 ' || l.calendar)::interval) at time zone z.name end as resets_at,
       case when u.drained_until > c.at then u.drained_until end as drained_until, u.noticed_at, u.slices, u.waiting_by
     from page p
     join lanefold._limit l on l.owner = p.owner and l.name = p.name
     ${usageOfListed}
     cross join (select lanefold._now() as at) c
     cross join lateral (select coalesce(l.time_zone, 'UTC') as name) z
     order by p.owner, p.name, p.idle, p.key`,
    [
      ...[name ?? null, db.tenant ?? null],
      ...[from?.owner ?? null, from?.name ?? null, from?.idle ?? false, from?.key ?? ''],
      limit,
    ],
  );
  return rows.map(({ idle, ...use }) => ({ ...use, cursor: bucketCursor({ ...use, idle }) }));
}
