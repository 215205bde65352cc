import type { StrategyDecision, RunFacts } from '../machine.ts';
import { llmLost } from './events.ts';
import { finishAtLimit } from './finish.ts';
import { callModelAfter } from './model-call.ts';
import { resumeRepair } from './output-repair.ts';
import type { TurnState } from './state.ts';

/**
 * Resumes a run after its last commit. A tool round or a repair continues; an interrupted model call is lost and made
 * again.
 */
export function resumeTurn<S extends TurnState>(run: RunFacts, state: S): StrategyDecision<S> {
  if (state.phase === 'tools') return { state, command: { type: 'run_tools', round: state.round, calls: [] } };
  if (state.phase === 'output') return resumeRepair(run, state);
  if (state.iteration > run.maxIterations) return finishAtLimit(state, 'max_iterations');
  return callModelAfter(run, { ...state, call_no: state.call_no + 1 }, { events: [llmLost(run, state)] }, run.spent);
}
