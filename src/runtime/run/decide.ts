import { setImmediate as nextMacrotask } from 'node:timers/promises';
import { addUsage } from '../../context/usage.ts';
import type { Usage } from '../../context/message.ts';
import type { Decision, Machine, MachineEvent, RunFacts } from '../../strategies/machine.ts';
import type { ActiveRun } from './active-run.ts';
import { mergeSteps, onlyAdds } from './merge-steps.ts';
import type { RunProgress } from './run-end.ts';

/** What decides for a run. */
export interface Decider {
  active: ActiveRun;
  strategy: Machine;
  facts: RunFacts;
  progress: RunProgress;
}

/** The strategy's decision on an event, and on the answers to its other calls that have come by then: one commit stores all. */
export async function decide(decider: Decider, event: MachineEvent, last: Decision): Promise<Decision> {
  let decision = decideOn(decider, event, last);
  if (decision.command.type !== 'call_models') return decision;
  // answers that come together still come one by one
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
  event: MachineEvent,
  { state, memory }: Pick<Decision, 'state' | 'memory'>,
): Decision {
  progress.usage = addUsed(progress.usage, event);
  return strategy.on(facts, state, { ...event, spent: active.clock.spent(progress) }, memory);
}

function addUsed(total: Usage | undefined, event: MachineEvent): Usage | undefined {
  if (event.type === 'model_answered') return addUsage(total, event.turn.usage);
  if ((event.type === 'output_repaired' || event.type === 'compacted') && event.usage)
    return addUsage(total, event.usage);
  return total;
}
