import type { Database } from '../../postgres/pool.ts';

/** The key of a bucket: owner, name and key. */
export type BucketId = [owner: string, name: string, key: string];

/** Deletes what no longer counts, a page at a time; see `drop_idle_buckets`. Returns where the next page begins. */
export async function dropIdleBuckets(
  db: Database,
  after: BucketId | null,
  days: number,
  most: number,
): Promise<BucketId | null> {
  const text = 'select d.last from lanefold.drop_idle_buckets($1::text[], $2, $3) as d (last)';
  return (await db.query<{ last: BucketId | null }>('drop_idle_buckets', text, [after, days, most]))[0]!.last;
}
