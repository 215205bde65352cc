import type { Database } from '../../../database/postgres/pool.ts';
import { dispatch } from '../../queue/relay.ts';
import { openQueue } from '../../queue/open-queue.ts';
import type { QueueOptions, RunQueue } from '../../queue/queue.ts';
import { cancelRun } from '../../../database/store/run/cancel-run.ts';
import { finishCancelledRun } from '../../../database/store/run/finish-run.ts';
import { withAbandonedRuns } from '../../../database/store/run/private-fleets.ts';

/**
 * Cancels the runs that a process with a private queue left behind when it was killed, and removes the queue. No other
 * worker would take these runs over, so their threads would stay busy.
 */
export function endAbandonedRuns(
  db: Database,
  queue: RunQueue,
  directUrl: string,
  options: QueueOptions,
): Promise<void> {
  return withAbandonedRuns(db, directUrl, async (prefix, runs) => {
    for (const run of runs) {
      const { promoted, status } = await cancelRun(db, run.thread_id, run.run_id, 'abandoned');
      const ended = status === 'running' ? await finishCancelledRun(db, run) : undefined;
      const next = promoted ?? ended?.promoted;
      if (next) await dispatch(db, queue, next);
    }
    const left = openQueue({ ...options, prefix, shards: 1, removing: true });
    await left.obliterate().catch(() => {});
    await left.close();
  });
}
