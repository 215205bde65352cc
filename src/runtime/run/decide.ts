import { setImmediate as nextMacrotask } from 'node:timers/promises';
import type { StrategyDecision, StrategyMachine, StrategyEvent, RunFacts } from '../../strategies/machine.ts';
import type { ActiveRun } from './active-run.ts';
import { mergeSteps, onlyAdds } from './merge-steps.ts';
import type { RunProgress } from './run-end.ts';
import type { Usage } from '../../context/message.ts';
import { addUsage } from '../../context/usage.ts';

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
