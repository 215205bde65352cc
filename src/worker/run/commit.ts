import type { JsonObject } from '../../agent/context/message.ts';
import { applyEffects } from '../../agent/context/state.ts';
import type { StrategyState, StepDraft, EventDraft } from '../../agent/strategies/machine.ts';
import { readContext } from '../../database/store/context/read-context.ts';
import { limitEvents } from '../../runs/limiter/refusals.ts';
import { commitStep, type CommitResult } from '../../database/store/run/commit-step.ts';
import type { RunDependencies } from './dependencies.ts';
import type { ActiveRun } from './open-run.ts';
import { RunContext } from './context.ts';
import type { Redactor } from '../../base/redaction/sensitive-keys.ts';

/** Commits a step, then updates context, thread state and progress to match the database. */
export async function commit(
  deps: RunDependencies,
  active: ActiveRun,
  state: StrategyState,
  step: StepDraft,
  handoff?: JsonObject,
): Promise<CommitResult> {
  const { run, claim, context, progress, resumed } = active;
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

type Finish = NonNullable<StepDraft['finish']>;

/**
 * The step with its events redacted, for the trace. Entries, outcomes, effects, the result and the
 * machine's state are left as they are: the model and the tools need them whole.
 */
const redactStep = (redactor: Redactor, step: StepDraft): StepDraft => ({
  ...step,
  ...(step.events && { events: redactEvents(redactor, step.events) }),
  ...(step.thenEvents && { thenEvents: redactEvents(redactor, step.thenEvents) }),
  ...(step.continue && { continue: { ...step.continue, events: redactEvents(redactor, step.continue.events) } }),
  ...(step.finish && { finish: redactFinish(redactor, step.finish) }),
});

/** Redacts only `data`: the other fields of an event are fixed names, which no redaction rule is meant for. */
export const redactEvents = (redactor: Redactor, events: readonly EventDraft[]): EventDraft[] =>
  events.map((event) => (event.data ? { ...event, data: redactor.value(event.data) } : event));

function redactFinish(redactor: Redactor, finish: Finish): Finish & { shown?: unknown } {
  const { result, events, output } = finish;
  // the terminal event quotes this result, which is not a message in the log
  const shown = redactor.value(result);
  return {
    ...finish,
    ...(events && { events: redactEvents(redactor, events) }),
    ...(output && { output: redactor.value(output) }),
    ...(shown === result ? {} : { shown }),
  };
}
