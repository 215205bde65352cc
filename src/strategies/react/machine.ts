import type { Decision, Machine, MachineEvent, RunFacts } from '../machine.ts';
import { onModelAnswered } from '../turn/model-turn.ts';
import { onModelFailed } from '../turn/retry.ts';
import { onRepaired, resumeRepair } from '../turn/finish.ts';
import { unknownEvent } from '../unknown-event.ts';
import { callId, type ReactState } from '../turn/state.ts';
import { finishAtLimit, llmStarted, nextCall } from '../turn/steps.ts';
import { onToolsFinished } from '../turn/tool-round.ts';

/**
 * ReAct: ask the model, run the tools it calls, ask again, until it answers without calls or the limit of model calls is
 * reached. Rules: reference behaviour, sections 1.6 to 1.11, with the rulings of the design in place of its defects.
 */
export const react: Machine<ReactState> = {
  name: 'react',
  tools: true,
  output: true,

  start: (run) => {
    const state: ReactState = { phase: 'llm', iteration: 1, round: 0, call_no: 1, retries: 0 };
    return { state, command: { type: 'call_model', callId: callId(run.runId, state) } };
  },

  resume(run, state) {
    const known = state ?? react.start(run).state;
    if (known.phase === 'tools') {
      return { state: known, command: { type: 'run_tools', round: known.round, calls: [] } };
    }
    if (known.phase === 'output') return resumeRepair(run, known);
    if (known.iteration > run.maxIterations) return finishAtLimit(run, known);
    const next = { ...known, call_no: known.call_no + 1 };
    return {
      state: next,
      step: {
        events: [{ kind: 'llm_lost', iteration: known.iteration, data: { call_id: callId(run.runId, known) } }],
        drain: true,
        thenEvents: [llmStarted(run, next)],
      },
      command: { type: 'call_model', callId: callId(run.runId, next) },
    };
  },

  on(run: RunFacts, state: ReactState, event: MachineEvent): Decision<ReactState> {
    switch (event.type) {
      case 'model_answered':
        return onModelAnswered(run, state, event);
      case 'model_failed':
        return onModelFailed(run, state, event);
      case 'tools_finished':
        return onToolsFinished(run, state, event);
      case 'output_repaired':
        return onRepaired(run, state, event.checked);
      case 'continued':
        return state.iteration > run.maxIterations ? finishAtLimit(run, state) : nextCall(run, state);
      default:
        throw unknownEvent('react', event);
    }
  },
};
