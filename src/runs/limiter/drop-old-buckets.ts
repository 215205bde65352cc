import type { Database } from '../../database/postgres/pool.ts';
import { type BucketId, dropIdleBuckets } from '../../database/store/limit/drop-idle-buckets.ts';

const page = 1_000;

/** Deletes what limits know of keys that no run has used for this many days, unless it still counts. */
export async function dropOldBuckets(db: Database, days: number): Promise<void> {
  let after: BucketId | null = null;
  do after = await dropIdleBuckets(db, after, days, page);
  while (after !== null);
}
