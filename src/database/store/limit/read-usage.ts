import type { LimitKind } from '../../../agent/limits/limit.ts';
import type { Database } from '../../postgres/pool.ts';
import {
  readRows,
  Conditions,
  invalidCursor,
  microsSql,
  pageByTime,
  readCursor,
  timestampSql,
  readIds,
  type ListPage,
} from '../rows.ts';
import type { RunStatus } from '../run/types.ts';

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
      name ?? null,
      db.tenant ?? null,
      from?.owner ?? null,
      from?.name ?? null,
      from?.idle ?? false,
      from?.key ?? '',
      limit,
    ],
  );
  return rows.map(({ idle, ...use }) => ({ ...use, cursor: bucketCursor({ ...use, idle }) }));
}

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

/** What a run holds of a bucket. */
export interface StoredHolder {
  /** The tenant that set the limit; `*`: the operator. */
  owner: string;
  name: string;
  kind: LimitKind;
  /** See `bucketKey`. */
  key: string;
  /** Whole text; of money in billionths of a dollar. */
  amount: string;
  threadId: string;
  runId: string;
  agent: string;
  status: RunStatus;
  /** The worker that executes it. */
  workerId: string | null;
  since: Date;
}

export interface HolderQuery {
  name?: string | undefined;
  key?: string | undefined;
  after?: string | undefined;
  limit: number;
}

const order = 'since, thread_id, run_id, owner, name, key';

/**
 * Which runs hold something of limits, the longest first. Reads the accounts of all unfinished runs that limits apply to.
 */
export async function readHolders(
  db: Database,
  { name, key: ofKey, after, limit }: HolderQuery,
): Promise<ListPage<StoredHolder>> {
  const where = new Conditions().add('n', 'name = $', name).add('k', 'key = $', ofKey);
  where.add('t', 'tenant_id = $', db.tenant);
  const cursor = readCursor(after, 5);
  if (cursor) {
    const key = readKeyText(cursor[5]!);
    if (key === undefined) throw invalidCursor(after!);
    const [at, ...ids] = [...cursor.slice(0, 5), key].map((part) => where.value(part)) as [string, ...string[]];
    where.fixed('c', `(${order}) > (${timestampSql(at)}, ${ids.join(', ')})`);
  }
  const rows = await readRows<StoredHolder & { micros: string }>(
    db,
    `limit_holders_${where.key}`,
    `select owner, name, kind, key, amount, thread_id, run_id, agent, status, worker_id, since,
       ${microsSql('since')} as micros
     from lanefold.limit_holder where ${where}
     order by ${order} limit ${where.value(limit + 1)}`,
    where.values,
  );
  return pageByTime(rows, limit, (last) => [last.threadId, last.runId, last.owner, last.name, keyText(last.key)]);
}

/** The place of a bucket in the list of a limit: the first ones are not idle. */
export interface ListedBucket {
  owner: string;
  name: string;
  /** No run waits for it. */
  idle: boolean;
  key: string;
}

/** A key as part of a cursor, whose parts are separated by slashes. */
export const keyText = (key: string): string => key.replaceAll('%', '%25').replaceAll('/', '%2F');

/** The key of such a text; undefined if the text has no key. */
export function readKeyText(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A bucket as a cursor. */
export const bucketCursor = ({ owner, name, idle, key }: ListedBucket): string =>
  [owner, name, idle, keyText(key)].join('/');

/** @throws LanefoldError `invalid_input` */
export function readBucketCursor(text: string | undefined): ListedBucket | undefined {
  const parts = readIds(text, 4);
  if (!parts) return undefined;
  const [owner, name, idle, key] = parts as [string, string, string, string];
  const decoded = readKeyText(key);
  if (decoded === undefined || !['true', 'false'].includes(idle)) throw invalidCursor(text!);
  return { owner, name, idle: idle === 'true', key: decoded };
}

interface Listed {
  /** A condition on the limit `l`. */
  limits: string;
  /** How many buckets of each limit. */
  most: string;
  /** Where the list of each limit begins; default: at its first bucket. */
  after?: { idle: string; key: string; isNone: string };
}

/**
 * SQL: the buckets of limits as (owner, name, key, idle): of each limit first those that runs wait for, by key, then the
 * others by key. An index has this order, so that no others are read. A limit without `*` in its scope has one bucket,
 * with the empty key, before anything has used it. A bucket from before the scope of its limit changed is left out.
 */
export const listedBuckets = ({
  limits,
  most,
  after = { idle: 'false', key: `''`, isNone: 'true' },
}: Listed): string => `
  select l.owner, l.name, k.key, k.idle from lanefold._limit l
  cross join lateral (select exists (select from jsonb_each_text(l.scope) s where s.value = '*') as keyed) w
  cross join lateral (
    (select b.key, b.idle from lanefold._limit_bucket b
     where w.keyed and b.owner = l.owner and b.name = l.name and b.key > '' and (b.idle, b.key) > (${after.idle}, ${after.key})
     order by b.idle, b.key limit ${most})
    union all
    select '', false where not w.keyed and ${after.isNone}) k
  where l.removed_at is null and ${limits}`;

/** SQL: joins the row `u` of `limit_usage` of a listed bucket `p`, found by its key; null if nothing has used it. */
export const usageOfListed = `left join lateral (
  select v.amount, v.used, v.reserved, v.waiting, v.total, v.drained_until, v.noticed_at, v.slices, v.waiting_by from lanefold.limit_usage v where v.owner = p.owner and v.name = p.name and v.key = p.key limit 1) u on true`;
