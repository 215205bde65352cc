import { invalidCursor, readIds } from '../page.ts';

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
