import { suspendRun } from '../../store/approval/suspend-run.ts';
import type { Decision } from '../../strategies/machine.ts';
import { commit } from './commit.ts';
import { decideOn, type Decider } from './decide.ts';
import type { RunDependencies } from './dependencies.ts';
import type { ApprovalNeeded } from './execute-command.ts';
import { CancelRequested } from './held-run.ts';
import { toRunEnd, type RunEnd } from './run-end.ts';

/** Lets a run wait for human approval; this worker is done with it. */
export async function suspend(
  deps: RunDependencies,
  decider: Decider,
  decision: Decision,
  { round, calls, awaiting }: ApprovalNeeded,
): Promise<RunEnd> {
  const { active, progress } = decider;
  const { run, agent } = active;
  await storeAnswersUnderWay(deps, decider, decision);
  const suspension = { round, awaiting, timeoutMs: agent.approvalTimeoutMs };
  const { step, status, cancel_requested: cancelled } = await run.persist(() => suspendRun(deps.db, run, suspension));
  run.step = step;
  if (cancelled) throw new CancelRequested();
  // it was cancelled after it was suspended, while the acknowledgement of the commit was lost
  if (status === 'cancelled') return toRunEnd(progress, { status });
  // Whatever the status is by now: the calls may have been decided, and the run queued for another worker.
  const names = awaiting.map((index) => `${round}.${index} ${calls[index]!.name}`);
  return toRunEnd(progress, { status: 'suspended' }, { awaiting: names });
}

/** Waits for the model calls that are under way: after a human's decision, which may take days, they would be made again. */
async function storeAnswersUnderWay(deps: RunDependencies, decider: Decider, last: Decision): Promise<void> {
  const { active, progress } = decider;
  let decision = last;
  for (;;) {
    const event = await active.clock.within(active.run.signal, async (signal) => active.pool?.rest(signal));
    if (!event || event.type === 'time_up') return;
    // one without an answer is made again
    if (event.type !== 'model_answered') continue;
    const next = decideOn(decider, event, decision);
    // an answer that would end the run while tools are open: it is asked again once they are decided
    if (!next.step || next.step.finish || next.command.type === 'fail') continue;
    const { cancel_requested: cancelled } = await commit(deps, active, next.state, next.step, progress, false);
    if (cancelled) throw new CancelRequested();
    decision = next;
  }
}
