import type { StrategyDecision, StrategyEvent } from '../../agent/strategies/machine.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import { commit } from './commit.ts';
import { decide, firstDecision } from './decide.ts';
import { mayBeginEarly, stepOf } from './preflight.ts';
import { type RunDependencies } from './dependencies.ts';
import { execute } from './execute-command.ts';
import { commitHandoff, handoffIn, onEndHandoff, withoutHandoff } from './handoffs.ts';
import { CancelRequested, type HeldRun } from './held-run.ts';
import { openRun, type ActiveRun } from './open-run.ts';
import { progressOf } from './progress.ts';
import { endByError, endByStep, isEnd } from './run-end.ts';
import { type RunEnd } from './progress.ts';

/**
 * Drives a claimed run until it ends, waits or is handed over. Errors end the run, except those that only stop this worker
 * from driving it: a failing database, a lost lease, and the worker's own stop.
 *
 * @throws LanefoldError `lease_lost`, `step_ahead` and others that `isLost` tells: this worker must write nothing more
 */
export async function driveRun(deps: RunDependencies, run: HeldRun, claim: Claim): Promise<RunEnd> {
  const progress = progressOf(claim);
  try {
    return await drive(deps, await openRun(deps, run, claim, progress));
  } catch (error) {
    return endByError(deps, run, progress, error);
  }
}

/** The loop of every strategy: commit the step, execute the command, let the strategy decide on the result. */
async function drive(deps: RunDependencies, active: ActiveRun): Promise<RunEnd> {
  try {
    let decision = firstDecision(active);
    for (;;) {
      const event = await carryOut(deps, active, decision);
      if (isEnd(event)) return event;
      const next = await decideOrHandOver(deps, active, event, decision);
      if (isEnd(next)) return next;
      decision = next;
      active.resumed = false;
    }
  } finally {
    active.pool?.close();
  }
}

/** Commits the step of a decision, then executes its command, which may begin earlier if it only reads. */
async function carryOut(
  deps: RunDependencies,
  active: ActiveRun,
  decision: StrategyDecision,
): Promise<RunEnd | StrategyEvent> {
  const committing = commitDecision(deps, active, decision);
  if (!mayBeginEarly(active.agent, decision)) return (await committing) ?? execute(deps, active, decision);
  const early = new AbortController();
  const executed = execute(deps, active, decision, { committing, signal: early.signal });
  // whatever it comes to, a failed commit comes first
  executed.catch(() => {});
  try {
    return (await committing) ?? (await executed);
  } catch (error) {
    early.abort(error);
    throw error;
  }
}

/** Commits the step of a decision. An event comes before its command: the strategy decides on that first. */
async function commitDecision(
  deps: RunDependencies,
  active: ActiveRun,
  decision: StrategyDecision,
): Promise<RunEnd | StrategyEvent | undefined> {
  const handoff = onEndHandoff(deps, active, decision);
  const handed = handoff && (await commitHandoff(deps, active, handoff.decision, handoff.next));
  if (handed) return handed;
  const step = stepOf(active.agent, decision);
  if (!step) return undefined;
  const committed = await commit(deps, active, decision.state, step);
  if (committed.finished) return endByStep(active, decision, committed);
  if (committed.cancel_requested) throw new CancelRequested();
  return committed.continued ? { type: 'continued' } : undefined;
}

/** Lets the strategy decide on an event. A round of tools may also give the run to another agent. */
async function decideOrHandOver(
  deps: RunDependencies,
  active: ActiveRun,
  event: StrategyEvent,
  last: StrategyDecision,
): Promise<RunEnd | StrategyDecision> {
  const decision = await decide(active, event, last);
  const handoff = event.type === 'tools_finished' ? handoffIn(event.outcomes) : undefined;
  if (event.type !== 'tools_finished' || !handoff) return decision;
  const handed = await commitHandoff(deps, active, decision, handoff);
  return handed ?? decide(active, { ...event, outcomes: withoutHandoff(event.outcomes) }, last);
}
