import type { JsonObject } from '../../context/message.ts';
import type { Decision, Machine, MachineEvent, RunFacts } from '../machine.ts';
import { assistantEntry, blankAnswer, llmCompleted } from '../turn/model-turn.ts';
import { react } from '../react/machine.ts';
import type { ReactState } from '../turn/state.ts';
import { advance, llmStarted } from '../turn/steps.ts';
import { parseThought } from './parse-thought.ts';

/**
 * One model call without tools, whose conclusion is the result; the whole answer where there is none. Input that
 * arrives meanwhile is answered by another call, up to the iteration limit.
 */
export const chain = (name: string, prompt: string): Machine<ReactState> => ({
  name,
  prompt,
  tools: false,
  output: false,
  start: (run) => withoutTools(react.start(run)),
  resume: (run, state) => withoutTools(react.resume(run, state)),
  on: (run, state, event) =>
    event.type === 'model_answered' ? onAnswered(run, state, event) : withoutTools(react.on(run, state, event)),
  details(answer): JsonObject {
    const { steps, conclusion } = parseThought(answer);
    return { steps: steps.map((step) => ({ ...step })), conclusion, raw_response: answer };
  },
});

function onAnswered(
  run: RunFacts,
  state: ReactState,
  event: Extract<MachineEvent, { type: 'model_answered' }>,
): Decision<ReactState> {
  const blank = blankAnswer(event.turn);
  if (blank) return { state, command: { type: 'fail', error: blank } };
  const { conclusion } = parseThought(event.turn.text);
  const next = advance(state);
  return {
    state,
    step: {
      // calls of tools it was not told of would stay open
      entries: [assistantEntry(run, state, event, [])],
      events: [llmCompleted(run, state, event, 'final_answer')],
      finish: { status: 'completed', reason: 'success', ...(conclusion === null ? {} : { result: conclusion }) },
      continue: { state: next, events: next.iteration > run.maxIterations ? [] : [llmStarted(run, next)] },
    },
    command: { type: 'finish' },
  };
}

const withoutTools = (decision: Decision<ReactState>): Decision<ReactState> =>
  decision.command.type === 'call_model' ? { ...decision, command: { ...decision.command, tools: false } } : decision;
