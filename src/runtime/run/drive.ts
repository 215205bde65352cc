import { effectiveAgent } from '../../agents/apply-overrides.ts';
import { addUsage } from '../../context/usage.ts';
import type { Json, Usage } from '../../context/message.ts';
import { applyEffects } from '../../context/state.ts';
import { isTransient } from '../../postgres/errors.ts';
import { findStrategy } from '../../strategies/registry.ts';
import type { Decision, EntryDraft, MachineEvent, MachineState, StepDraft } from '../../strategies/machine.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import { commitStep, type CommitResult } from '../../store/run/commit-step.ts';
import { executeCommand, type ActiveRun } from './execute-command.ts';
import { CancelRequested, HandedOver, type HeldRun } from './held-run.ts';
import { isLost } from './lost.ts';
import { redactStep } from './redact-step.ts';
import { endAbnormally, toRunEnd, toRunError, type RunEnd, type RunProgress } from './run-end.ts';
import { runFacts } from './run-facts.ts';
import { RunContext } from './context.ts';
import type { RunDependencies } from './dependencies.ts';

/**
 * Drives a claimed run until it ends or waits for approval. Errors end the run, except those that only end this
 * worker's part in it: a failing database, a lost lease, and the worker's own stop.
 *
 * @throws LanefoldError `lease_lost`, `step_ahead` and others that `isLost` tells: this worker must write nothing more
 */
export async function driveRun(deps: RunDependencies, run: HeldRun, claim: Claim): Promise<RunEnd> {
  const progress: RunProgress = { iteration: claim.iteration, usage: claim.usage ?? undefined };
  try {
    return await drive(deps, run, claim, progress);
  } catch (error) {
    if (error instanceof CancelRequested) {
      return endAbnormally(deps, run, progress, 'cancelled', { type: 'cancelled', message: error.message });
    }
    if (isTransient(error) || isLost(error) || error instanceof HandedOver) throw error;
    return endAbnormally(deps, run, progress, 'failed', toRunError(error));
  }
}

/** The loop of every strategy: commit the step, execute the command, pass the result to the strategy. */
async function drive(deps: RunDependencies, run: HeldRun, claim: Claim, progress: RunProgress): Promise<RunEnd> {
  const agent = effectiveAgent(deps.agents, deps.agents.get(claim.agent), claim.config, claim.options);
  const strategy = findStrategy(claim.strategy);
  const facts = runFacts(run.runId, claim, agent);
  const context = new RunContext(claim.context, agent.output?.instructions);
  const active: ActiveRun = { run, claim, agent, context, ledger: claim.calls };
  let decision: Decision = claim.fresh ? strategy.start(facts) : strategy.resume(facts, claim.state);
  let resumed = !claim.fresh;
  if (claim.cancel_requested) throw new CancelRequested();

  for (;;) {
    const { state, step, command } = decision;
    const committed = step && (await commit(deps, active, state, step, progress, resumed));
    if (committed?.finished) {
      return toRunEnd(progress, committed, { answer: step?.finish?.result ?? answerIn(step?.entries) });
    }
    if (committed?.cancel_requested) throw new CancelRequested();
    if (committed?.continued) {
      decision = strategy.on(facts, step!.continue!.state, { type: 'continued' });
    } else if (command.type === 'fail') {
      return await endAbnormally(deps, run, progress, 'failed', command.error, command.events);
    } else {
      const event = await executeCommand(deps, active, state, command);
      if (event.type === 'suspended') return toRunEnd(progress, event, { awaiting: event.awaiting });
      progress.usage = addUsed(progress.usage, event);
      decision = strategy.on(facts, state, event);
    }
    resumed = false;
  }
}

/** Commits a step, then brings context, thread state and progress to where the database is. */
async function commit(
  deps: RunDependencies,
  { run, claim, context }: ActiveRun,
  state: MachineState,
  step: StepDraft,
  progress: RunProgress,
  resumed: boolean,
): Promise<CommitResult> {
  const { entries = [], effects } = step;
  const redactedStep = redactStep(deps.redactor, step);
  const messages = context.messages.length + entries.length;
  const options = { resumed, maxTraceEvents: deps.maxTraceEvents, messages };
  const result = await run.persist(
    () => commitStep(deps.db, run, state, redactedStep, progress.usage, options),
    // a repeated commit wrote nothing, so it did not renew the lease either
    ({ duplicate }) => duplicate !== true,
  );
  run.step = result.step;
  progress.iteration = state.iteration;
  deps.onStep?.(state, redactedStep, progress.usage);
  if (result.finished) return result;
  for (const [i, { role, payload, refs = null }] of entries.entries()) {
    context.push({ role, ...payload, refs, ...(result.seq === undefined ? {} : { seq: result.seq + i }) });
  }
  for (const input of result.inputs ?? []) context.push(input);
  if (effects) claim.thread_state = applyEffects(claim.thread_state, effects);
  return result;
}

function addUsed(total: Usage | undefined, event: MachineEvent): Usage | undefined {
  if (event.type === 'model_answered') return addUsage(total, event.turn.usage);
  if (event.type === 'output_repaired' && event.usage) return addUsage(total, event.usage);
  return total;
}

const answerIn = (entries: EntryDraft[] = []): Json | undefined => {
  const last = entries.at(-1);
  return last?.role === 'assistant' ? last.payload['content'] : undefined;
};
