import type { ToolCall } from '../../context/message.ts';
import type {
  StrategyDecision,
  EntryDraft,
  EventDraft,
  StrategyEvent,
  StrategyState,
  CallOutcome,
  StepDraft,
} from '../machine.ts';
import { type Answered, checkpoint, toolCompleted, toolStarted, nextIteration, type TurnState } from './events.ts';

export type ToolsFinished = Extract<StrategyEvent, { type: 'tools_finished' }>;

/**
 * Commits the assistant message with the ledger rows of its calls, then runs the calls.
 *
 * @param limits the only tools the calls may use, undefined: all of the run's; and how the answer was cut
 */
export function startToolRound<S extends TurnState>(
  state: S,
  { entries, events }: { entries: EntryDraft[]; events: EventDraft[] },
  calls: ToolCall[],
  { tools, cut }: Pick<Answered, 'tools' | 'cut'>,
): StrategyDecision<S> {
  const next: S = {
    ...state,
    tools,
    cut,
    phase: 'tools',
    round: state.round + 1,
  };
  return {
    state: next,
    step: {
      entries,
      events: [...events, ...calls.map((call) => toolStarted(state, call))],
      calls: calls.map((call, index) => ({ index, id: call.id, name: call.name })),
    },
    command: { type: 'run_tools', round: next.round, calls },
  };
}

/** The step that ends a tool round. */
export function toolRoundStep(state: TurnState, finished: ToolsFinished): StepDraft & { entries: EntryDraft[] } {
  const results = toolResults(state, finished);
  return { ...results, events: [...results.events, checkpoint(nextIteration(state), 'after_tools')] };
}

/** A tool message for each call of a round that has ended, in call order, and the outcomes for the ledger. */
export function toolResults(
  state: StrategyState,
  { calls, outcomes }: ToolsFinished,
): StepDraft & { entries: EntryDraft[]; events: EventDraft[] } {
  const effects = outcomes.flatMap((o, i) => o.effects?.map((effect) => ({ ...effect, call_index: i })) ?? []);
  return {
    entries: calls.map((call, i) => toolEntry(state, call, outcomes[i]!)),
    events: calls.map((call, i) => toolCompleted(state, call, outcomes[i]!, i)),
    outcomes: outcomes.map((o) => ({ status: o.status, attempts: o.attempts, duration_ms: o.durationMs })),
    ...(effects.length > 0 ? { effects } : {}),
  };
}

const toolEntry = (state: StrategyState, call: ToolCall, outcome: CallOutcome): EntryDraft => ({
  role: 'tool',
  payload: { content: outcome.content, tool_call_id: call.id, name: call.name },
  refs: { iteration: state.iteration, ...(outcome.cleaned ? { cleaned: true } : {}), ...outcome.refs },
});
