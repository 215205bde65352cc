import { assertRef } from '../../../base/checks/ids.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { cancelRun } from '../../../database/store/run/cancel-run.ts';
import { findDelayedJob } from '../../../database/store/run/find-jobs.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import type { RunStatus } from '../../../database/store/run/types.ts';
import { briefly, dispatch } from '../../queue/relay.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { type CheckpointDeps, openToken } from './checkpoints.ts';

/** Cancels a run, by its id or a checkpoint token. See `Runs.cancel`. */
export async function cancel(
  deps: CheckpointDeps,
  target: RunRef | string,
  reason = 'user_cancelled',
): Promise<{ status: RunStatus; accepted: boolean }> {
  const { db, queue } = deps;
  const run = typeof target === 'string' ? toRef(openToken(deps, target)) : target;
  assertRef(run);
  assertStorable(reason, 'The reason');
  const { status, accepted, promoted } = await cancelRun(db, run.threadId, run.id, reason);
  if (promoted) await briefly(dispatch(db, queue, promoted));
  // a job that stays in the queue is harmless: the worker that takes it finds that the run has ended
  if (accepted && status === 'cancelled') {
    await dropDelayedJob(db, queue, run).catch(() => {});
    await deps.admission?.release(deps.db, { threadId: run.threadId, runId: run.id });
  }
  return { status, accepted };
}

/** A delayed job would otherwise stay in the queue until its delay is over. */
async function dropDelayedJob(db: Database, queue: RunQueue, run: RunRef): Promise<void> {
  const job = await findDelayedJob(db, run.threadId, run.id, queue.prefix);
  if (job) await queue.remove([job]);
}

const toRef = ({ threadId, runId }: { threadId: string; runId: string }): RunRef => ({ threadId, id: runId });
