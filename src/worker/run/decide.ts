import { setImmediate as nextMacrotask } from 'node:timers/promises';
import type { StepDraft, StrategyDecision, StrategyEvent } from '../../agent/strategies/machine.ts';
import type { StoredAnswer } from '../../agent/strategies/records.ts';
import { callId, type TurnState } from '../../agent/strategies/turn/events.ts';
import type { NodeRow } from '../../database/store/run/claim-run.ts';
import type { ActiveRun } from './open-run.ts';
import { addUsed } from './progress.ts';

/** How the strategy continues a run that was just claimed. */
export function firstDecision(active: ActiveRun): StrategyDecision {
  const { claim, strategy, facts } = active;
  if (claim.fresh || (claim.waited && !claim.state)) return strategy.start(facts);
  const { handed, ...state } = claim.state ?? {};
  if (handed === undefined) {
    const resumed = strategy.resume(facts, claim.state, claim.nodes?.map(toStoredAnswer));
    return claim.waited ? withoutLoss(resumed) : resumed;
  }
  // the commit that handed the run over has started the next call
  const own = state as TurnState;
  if (handed === 'whole') {
    // committed without `handed`, so that a worker that takes over sees a call that was lost
    return { step: {}, ...decideOn(active, { type: 'continued' }, { state: own }) };
  }
  const request = { cause: 'handoff', keepTurns: 0 } as const;
  return { state: own, command: { type: 'compact', callId: callId(facts, own), request } };
}

/** A run that a limit delayed lost no call: it had made none. */
const withoutLoss = (decision: StrategyDecision): StrategyDecision => {
  const { step } = decision;
  if (!step?.events) return decision;
  return { ...decision, step: { ...step, events: step.events.filter(({ kind }) => kind !== 'llm_lost') } };
};

const toStoredAnswer = ({ elapsed_ms: elapsedMs, data, ...row }: NodeRow): StoredAnswer => ({
  ...row,
  elapsedMs,
  rounds: (data?.['rounds'] ?? []) as unknown as StoredAnswer['rounds'],
});

/**
 * The strategy's decision on an event, and on the answers to its other calls that have arrived by then: one commit
 * stores them all.
 */
export async function decide(
  active: ActiveRun,
  event: StrategyEvent,
  last: StrategyDecision,
): Promise<StrategyDecision> {
  const { memory, step: committed } = last;
  const state = event.type === 'continued' ? committed!.continue!.state : last.state;
  let decision = decideOn(active, event, { state, memory });
  if (decision.command.type !== 'call_models') return decision;
  // answers that come together still arrive one by one, so give the others a moment
  await nextMacrotask();
  for (;;) {
    const { step, command } = decision;
    if (command.type !== 'call_models' || (step && !onlyAdds(step))) return decision;
    const arrived = active.pool?.arrived(command.calls);
    if (!arrived) return decision;
    const next = decideOn(active, arrived, decision);
    const merged = mergeSteps(step, next.step);
    decision = merged ? { ...next, step: merged } : next;
  }
}

function decideOn(
  { strategy, facts, progress, clock }: ActiveRun,
  event: StrategyEvent,
  { state, memory }: Pick<StrategyDecision, 'state' | 'memory'>,
): StrategyDecision {
  addUsed(progress, event);
  return strategy.on(facts, state, { ...event, spent: clock.spent(progress) }, memory);
}

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
