import type { Database } from '../../postgres/pool.ts';
import { dropOldBuckets } from '../limits/drop-old-buckets.ts';
import { dropOldScores } from '../monitors/drop-old-scores.ts';
import { dropOldSlots } from '../schedules/drop-old-slots.ts';
import { dropOldEvents } from '../waits/drop-old-events.ts';
import { dropOldDeliveries } from '../webhooks/drop-old-deliveries.ts';
import { giveUpOldDeliveries } from '../webhooks/give-up-deliveries.ts';
import type { Repeater } from './repeat.ts';
import { traceRetention } from './retention.ts';

/** Deletes what is older than `retentionDays`; 0: only what nothing waits for any more. */
export function repeatCleanup(
  repeater: Repeater,
  { db, sweepMs, retentionDays }: { db: Database; sweepMs: number; retentionDays: number },
): void {
  const atMostEvery = (ms: number, work: () => Promise<void>) => repeater.repeat(Math.max(ms, sweepMs), work);
  atMostEvery(60_000, () => giveUpOldDeliveries(db));
  atMostEvery(600_000, () => dropOldDeliveries(db, retentionDays));
  atMostEvery(600_000, () => dropOldEvents(db));
  if (retentionDays > 0) {
    atMostEvery(60_000, () => dropOldSlots(db, retentionDays));
    atMostEvery(600_000, () => dropOldScores(db, retentionDays));
    atMostEvery(3_600_000, () => dropOldBuckets(db, retentionDays));
  }
  // takes about a fifth of the time of one connection
  repeater.repeat(sweepMs, traceRetention(db, retentionDays, sweepMs / 4), 4);
}
