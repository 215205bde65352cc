import type {
  StepDraft,
  StrategyDecision,
  StrategyMachine,
  StrategyEvent,
  RunFacts,
} from '../../agent/strategies/machine.ts';
import { setImmediate as nextMacrotask } from 'node:timers/promises';
import type { ActiveRun } from './active-run.ts';
import type { RunProgress } from './run-end.ts';
import type { Usage } from '../../agent/context/message.ts';
import { addUsage } from '../../agent/context/usage.ts';

const mergeable = new Set(['entries', 'events', 'nodes']);

/** Whether a step only adds rows, so that the next step can be merged into it. */
export const onlyAdds = (step: StepDraft): boolean => Object.keys(step).every((key) => mergeable.has(key));

/** One step that writes what both would have written, in order. `first` must only add rows. */
export function mergeSteps(first: StepDraft | undefined, second: StepDraft | undefined): StepDraft | undefined {
  if (!first || !second) return first ?? second;
  const { entries = [], events = [], nodes = [] } = first;
  const { callsAt, finish } = second;
  const shift = entries.length;
  const shifted = <Event extends { entry?: number }>(drafts: readonly Event[] = []): Event[] =>
    drafts.map((event) => (event.entry === undefined ? event : { ...event, entry: event.entry + shift }));
  return {
    ...second,
    ...present('entries', [...entries, ...(second.entries ?? [])]),
    ...present('events', [...events, ...shifted(second.events)]),
    ...present('nodes', [...nodes, ...(second.nodes ?? [])]),
    ...(second.thenEvents ? { thenEvents: shifted(second.thenEvents) } : {}),
    ...(second.calls ? { callsAt: (callsAt ?? 0) + shift } : {}),
    ...(finish?.events ? { finish: { ...finish, events: shifted(finish.events) } } : {}),
  };
}

const present = <Key extends 'entries' | 'events' | 'nodes'>(key: Key, drafts: NonNullable<StepDraft[Key]>) =>
  drafts.length > 0 ? { [key]: drafts } : {};

/**
 * Adds the tokens of a model call to those of the run and, where a request transformer chose another model, to that
 * model's.
 */
export function addUsed(progress: Pick<RunProgress, 'usage' | 'otherUsage'>, event: StrategyEvent): void {
  const { usage, model } = spentBy(event);
  if (!usage) return;
  progress.usage = addUsage(progress.usage, usage);
  if (model === undefined) return;
  const others = progress.otherUsage ?? {};
  progress.otherUsage = { ...others, [model]: addUsage(others[model], { ...usage, calls: 1 }) };
}

/** `model` is set only where it is not the run's. */
function spentBy(event: StrategyEvent): { usage?: Usage | undefined; model?: string | undefined } {
  if (event.type === 'model_answered')
    return { usage: event.turn.usage, model: event.refs?.['model'] as string | undefined };
  return event.type === 'output_repaired' || event.type === 'compacted' ? event : {};
}

/** Everything a decision about a run depends on. */
export interface Decider {
  active: ActiveRun;
  strategy: StrategyMachine;
  facts: RunFacts;
  progress: RunProgress;
}

/**
 * The strategy's decision on an event, and on the answers to its other calls that have arrived by then: one commit
 * stores them all.
 */
export async function decide(
  decider: Decider,
  event: StrategyEvent,
  last: StrategyDecision,
): Promise<StrategyDecision> {
  let decision = decideOn(decider, event, last);
  if (decision.command.type !== 'call_models') return decision;
  // answers that come together still arrive one by one, so give the others a moment
  await nextMacrotask();
  for (;;) {
    const { step, command } = decision;
    if (command.type !== 'call_models' || (step && !onlyAdds(step))) return decision;
    const arrived = decider.active.pool?.arrived(command.calls);
    if (!arrived) return decision;
    const next = decideOn(decider, arrived, decision);
    const merged = mergeSteps(step, next.step);
    decision = merged ? { ...next, step: merged } : next;
  }
}

export function decideOn(
  { active, strategy, facts, progress }: Decider,
  event: StrategyEvent,
  { state, memory }: Pick<StrategyDecision, 'state' | 'memory'>,
): StrategyDecision {
  addUsed(progress, event);
  return strategy.on(facts, state, { ...event, spent: active.clock.spent(progress) }, memory);
}
