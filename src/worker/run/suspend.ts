import { suspendRun } from '../../database/store/wait/suspend-run.ts';
import type { ActiveRun } from './active-run.ts';
import type { RunDependencies } from './dependencies.ts';
import type { CallsWait } from './execute-command.ts';
import { CancelRequested } from './held-run.ts';
import { toRunEnd, type RunEnd, type RunProgress } from './run-end.ts';

/** Suspends a run whose calls wait; this worker is done with it. */
export async function suspend(
  deps: RunDependencies,
  { run, agent }: ActiveRun,
  progress: RunProgress,
  { round, calls, awaiting }: CallsWait,
): Promise<RunEnd> {
  const suspension = { round, awaiting, timeoutMs: agent.approvalTimeoutMs };
  const {
    step,
    status,
    job,
    cancel_requested: cancelled,
  } = await run.persist(() => suspendRun(deps.db, run, suspension));
  run.step = step;
  if (cancelled) throw new CancelRequested();
  // the acknowledgement of the commit was lost, and the run was cancelled before the retry
  if (status === 'cancelled') return toRunEnd(progress, { status });
  // The status may have changed since: the waits may be over and the run queued for another worker.
  const names = awaiting.map((index) => `${round}.${index} ${calls[index]!.name}`);
  return toRunEnd(progress, { status: 'suspended', ...(job ? { promoted: job } : {}) }, { awaiting: names });
}
