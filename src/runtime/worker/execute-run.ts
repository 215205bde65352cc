import { startCompaction } from '../../library/contexts/compact.ts';
import { optionsOfLane } from '../../library/contexts/options-of-lane.ts';
import { dispatch, dispatchFirst } from '../../queue/dispatch.ts';
import { jobId, type RunJobResult } from '../../queue/job.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import { jobResult } from './job-result.ts';
import type { RunDependencies } from '../run/dependencies.ts';
import { driveRun } from '../run/drive.ts';
import { Released } from '../run/held-run.ts';
import type { HeldJob } from './held-job.ts';
import { hasLeft } from './job-worker.ts';
import { limitsOfRun, settleLimits } from './limited-run.ts';
import { interruptionOf, onInterrupted } from './lost-run.ts';

/** Executes a claimed run to its end, and returns the result of the job. */
export async function executeRun(held: HeldJob, claim: Claim, onEnd: (status: string) => void): Promise<RunJobResult> {
  const { deps, queue, worker, job, run } = held;
  const { company, keeper, onError } = worker;
  const { threadId, runId } = run;
  run.lease = claim.lease;
  run.step = claim.step;
  run.isSlotWanted = () => worker.intake.isFull;
  run.telemetry = worker.telemetry.runClaimed({
    ...{ threadId, runId, agent: claim.agent, model: claim.model, contextRef: claim.context_ref },
    ...{ fresh: claim.fresh, step: claim.step, traceparent: claim.traceparent },
    queuedMs: claim.queued_ms,
  });
  keeper.hold(run, jobId(job.data));
  if (hasLeft(worker)) run.lose(new Released());
  deps.live?.committed(threadId);
  // the first step of a resumed run may merely resume it, so only the second one is progress
  let stepsToProgress = claim.fresh ? 1 : 2;
  const onStep: RunDependencies['onStep'] = (step) => {
    run.telemetry.stepCommitted(step);
    stepsToProgress -= 1;
    if (stepsToProgress === 0) company.reopen(run);
    deps.live?.committed(threadId);
  };
  try {
    deps.onHold?.(run);
    const limits = await limitsOfRun(held, claim);
    run.limits = limits;
    const end = await run.telemetry.during(() => driveRun({ ...deps, onStep }, run, claim));
    keeper.drop(run);
    run.telemetry.ended(end);
    deps.onRelease?.(run, end.run);
    void settleLimits(held, limits, claim, end).catch(onError);
    deps.live?.committed(threadId);
    onEnd(end.status);
    const { parent, eval: item } = claim.options ?? {};
    const goesOn = end.status === 'suspended' || end.status === 'queued';
    if (end.promoted && goesOn) await dispatchFirst(deps.db, queue, [end.promoted], onError);
    else if (end.promoted) await dispatch(deps.db, queue, end.promoted, onError);
    if (item && !goesOn) deps.evals?.runEnded();
    if (parent && !goesOn) await deps.waits?.childEnded(run, parent.thread_id);
    // if this fails, the next run to end asks again
    if (end.full) await requestCompaction(held, claim).catch(onError);
    return jobResult(end);
  } catch (error) {
    deps.onRelease?.(run);
    run.telemetry.interrupted(interruptionOf(error));
    return await onInterrupted(held, error);
  } finally {
    keeper.drop(run);
  }
}

const requestCompaction = ({ deps, queue, run }: HeldJob, { agent, model, context_ref: contextRef, ...claim }: Claim) =>
  startCompaction({ db: deps.db, queue, activeTraceparent: undefined }, run.threadId, {
    ...{ agent, model, contextRef, request: { cause: 'threshold' }, caller: claim.caller ?? undefined },
    options: optionsOfLane(deps.agents, agent, { agent, options: claim.options ?? {} }),
  });
