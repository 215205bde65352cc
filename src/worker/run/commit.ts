import type { JsonObject } from '../../agent/context/message.ts';
import { applyEffects } from '../../agent/context/state.ts';
import type { StrategyState, StepDraft } from '../../agent/strategies/machine.ts';
import { readContext } from '../../database/store/context/read-context.ts';
import { limitEvents } from '../../runs/limiter/reached.ts';
import { commitStep, type CommitResult } from '../../database/store/run/commit-step.ts';
import type { RunDependencies } from './dependencies.ts';
import type { ActiveRun } from './active-run.ts';
import { RunContext } from './context.ts';
import { redactStep } from './redact-step.ts';
import type { RunProgress } from './run-end.ts';

/** Commits a step, then updates context, thread state and progress to match the database. */
export async function commit(
  deps: RunDependencies,
  active: ActiveRun,
  state: StrategyState,
  step: StepDraft,
  progress: RunProgress,
  resumed: boolean,
  handoff?: JsonObject,
): Promise<CommitResult> {
  const { run, claim, context } = active;
  const { entries = [], effects } = step;
  const reached = limitEvents(run, state.iteration, step.finish?.reason === 'budget_exhausted');
  const redactedStep = redactStep(
    deps.redactor,
    reached.length > 0 ? { ...step, events: [...reached, ...(step.events ?? [])] } : step,
  );
  const own = entries.filter((entry) => entry.contextRef === undefined);
  const messages = context.messages.length + own.length;
  const contents = [...active.contents];
  const awaited = deps.isAwaited?.(run) ?? false;
  const { otherUsage } = progress;
  const options = { resumed, maxTraceEvents: deps.maxTraceEvents, messages, contents, awaited, otherUsage, handoff };
  const result = await run.persist(
    () => commitStep(deps.db, run, state, redactedStep, progress.usage, options),
    // a repeated commit wrote nothing, so it did not renew the lease either
    ({ duplicate }) => duplicate !== true,
  );
  // it wrote nothing: a run that is to be cancelled is not handed over
  if (handoff && result.cancel_requested && !result.duplicate) return result;
  // in place: the round under way adds the results that it gets after this step
  active.contents.splice(0, contents.length);
  run.step = result.step;
  progress.iteration = state.iteration;
  deps.onStep?.(redactedStep);
  if (result.finished) return result;
  if (step.calls && result.seq !== undefined) active.callSeq = result.seq + (step.callsAt ?? 0);
  for (const [i, { role, payload, refs = null, contextRef }] of entries.entries()) {
    if (contextRef !== undefined) continue;
    context.push({ role, ...payload, refs, ...(result.seq === undefined ? {} : { seq: result.seq + i }) });
  }
  for (const input of result.inputs ?? []) context.push(input);
  if (step.compact) {
    active.context = new RunContext(await readContext(deps.db, run.threadId, claim.context_ref), context.instructions);
  }
  if (effects) claim.thread_state = applyEffects(claim.thread_state, effects);
  return result;
}
