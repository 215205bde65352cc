import { LanefoldError } from '../../../base/errors.ts';
import { limitReached } from '../limits.ts';
import type { StrategyDecision, StrategyEvent, RunFacts, SpentSoFar } from '../machine.ts';
import { compactFirst, onCompacted } from './compaction.ts';
import { finishAtLimit } from './finish.ts';
import { askModel } from './model-call.ts';
import { onModelFailed } from './model-retry.ts';
import { failRepairOutOfTime, onRepaired } from './output-repair.ts';
import type { TurnState } from './state.ts';

/**
 * The decision on an event that all strategies treat alike.
 *
 * @throws LanefoldError `internal` on any other event, so that the run fails instead of waiting for ever
 */
export function onSharedEvent<S extends TurnState>(
  strategy: string,
  run: RunFacts,
  state: S,
  event: StrategyEvent,
): StrategyDecision<S> {
  switch (event.type) {
    case 'model_failed':
      return onModelFailed(run, state, event);
    case 'output_repaired':
      return onRepaired(run, state, event.checked);
    case 'continued':
      return onContinued(run, state, event.spent);
    case 'over_budget':
      return compactFirst(run, state);
    case 'compacted':
      return onCompacted(run, state, event);
    case 'time_up':
      return state.phase === 'output' ? failRepairOutOfTime(run, state) : finishAtLimit(state, 'max_duration');
    default:
      throw new LanefoldError('internal', `The strategy ${strategy} does not know the event "${event.type}".`, {
        hint: 'This is a bug in Lanefold; please report it.',
      });
  }
}

/** The `llm_started` for the queued input is committed; now calls the model, unless a limit is reached. */
function onContinued<S extends TurnState>(run: RunFacts, state: S, spent: SpentSoFar | undefined): StrategyDecision<S> {
  const reason = limitReached(run, state.iteration, spent);
  return reason ? finishAtLimit(state, reason) : askModel(run, state);
}
