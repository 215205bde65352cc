import type { Database } from '../../database/postgres/pool.ts';
import { dropOldBuckets } from '../../runs/limiter/drop-old-buckets.ts';
import { dropOldEvents } from '../waits/drop-old-events.ts';
import type { Repeater } from './repeat.ts';
import { dropTraces } from '../../database/store/trace/drop-traces.ts';

/** Deletes what is older than `retentionDays`; 0: only what nothing waits for any more. */
export function repeatCleanup(
  repeater: Repeater,
  { db, sweepMs, retentionDays }: { db: Database; sweepMs: number; retentionDays: number },
): void {
  const atMostEvery = (ms: number, work: () => Promise<void>) => repeater.repeat(Math.max(ms, sweepMs), work);
  atMostEvery(600_000, () => dropOldEvents(db));
  if (retentionDays > 0) atMostEvery(3_600_000, () => dropOldBuckets(db, retentionDays));
  // takes about a fifth of the time of one connection
  repeater.repeat(sweepMs, traceRetention(db, retentionDays, sweepMs / 4), 4);
}

const batch = 500;
const pauseMs = 600_000;

/**
 * Empties old traces: each call works for about `busyMs` while there are any, and then checks only every ten minutes.
 * With 0 `days`, all traces are kept.
 */
export function traceRetention(db: Database, days: number, busyMs: number): () => Promise<void> {
  let nextAt = 0;
  return async () => {
    if (days === 0 || performance.now() < nextAt) return;
    for (const endAt = performance.now() + busyMs; ;) {
      const { due, dropped, leftToOther } = await dropTraces(db, days, batch);
      if (due === 0) nextAt = performance.now() + pauseMs;
      if (dropped === 0 || leftToOther || performance.now() > endAt) return;
    }
  };
}
