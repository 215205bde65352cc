import type { Clock } from '../common/clock.ts';
import { within } from '../common/time-limit.ts';
import { answerTimeoutMs } from './add-jobs.ts';
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

/** Removes a job and its logs; returns 1 if there was such a job, else 0. In Redis, BullMQ reports missing jobs as removed. */
export async function removeJob(queue: BullQueue, id: string): Promise<number> {
  const state = await within(answerTimeoutMs, queue.getJobState(id));
  const removed = await within(answerTimeoutMs, queue.remove(id));
  return state === 'unknown' ? 0 : removed;
}
