import type { Clock } from '../common/clock.ts';
import type { Backend, BullQueue } from './queue.ts';

/** Jobs per batch. Redis does nothing else during a batch; PostgreSQL sorts all removable jobs for each batch. */
const batchSize = { redis: 1_000, postgres: 10_000 };

/** Removes jobs that ended more than `keepMs` ago; of the rest, keeps only the last `keep` per state. */
export async function cleanQueue(
  queue: BullQueue,
  backend: Backend,
  clock: Clock,
  { keepMs, keep }: { keepMs: number; keep: number },
): Promise<void> {
  for (const state of ['completed', 'failed'] as const) {
    // BullMQ's own limit on ended jobs deadlocks on PostgreSQL, which fails jobs that have succeeded
    const [first] = await queue.getJobs([state], keep, keep);
    // a moment, because BullMQ subtracts the age from the time of each batch
    const cutoff = Math.max(clock.now() - keepMs, first?.finishedOn ?? 0);
    const clean = () => queue.clean(Math.max(clock.now() - cutoff, 0), batchSize[backend], state);
    while ((await clean()).length === batchSize[backend]);
  }
}
