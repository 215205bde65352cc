import { LanefoldError } from '../../errors.ts';
import type { Decision, MachineEvent, RunFacts } from '../machine.ts';
import { finishAtLimit } from './finish.ts';
import { callModel } from './model-call.ts';
import { onModelFailed } from './model-retry.ts';
import { onRepaired } from './output-repair.ts';
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
  event: MachineEvent,
): Decision<S> {
  switch (event.type) {
    case 'model_failed':
      return onModelFailed(run, state, event);
    case 'output_repaired':
      return onRepaired(run, state, event.checked);
    case 'continued':
      return state.iteration > run.maxIterations ? finishAtLimit(run, state) : callModel(run, state);
    default:
      throw new LanefoldError('internal', `The strategy ${strategy} does not know the event "${event.type}".`, {
        hint: 'This is a fault of the runtime; please report it.',
      });
  }
}
