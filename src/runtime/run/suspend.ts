import { suspendRun } from '../../store/approval/suspend-run.ts';
import type { ActiveRun } from './active-run.ts';
import type { RunDependencies } from './dependencies.ts';
import type { ApprovalNeeded } from './execute-command.ts';
import { CancelRequested } from './held-run.ts';
import { toRunEnd, type RunEnd, type RunProgress } from './run-end.ts';

/** Suspends a run for human approval; this worker is done with it. */
export async function suspend(
  deps: RunDependencies,
  { run, agent }: ActiveRun,
  progress: RunProgress,
  { round, calls, awaiting }: ApprovalNeeded,
): Promise<RunEnd> {
  const suspension = { round, awaiting, timeoutMs: agent.approvalTimeoutMs };
  const { step, status, cancel_requested: cancelled } = await run.persist(() => suspendRun(deps.db, run, suspension));
  run.step = step;
  if (cancelled) throw new CancelRequested();
  // the acknowledgement of the commit was lost, and the run was cancelled before the retry
  if (status === 'cancelled') return toRunEnd(progress, { status });
  // The status may have changed since: the calls may be decided and the run queued for another worker.
  const names = awaiting.map((index) => `${round}.${index} ${calls[index]!.name}`);
  return toRunEnd(progress, { status: 'suspended' }, { awaiting: names });
}
