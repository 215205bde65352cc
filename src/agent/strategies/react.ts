import type { ToolCall } from '../context/message.ts';
import type { EntryDraft, StrategyDecision, RunFacts } from './machine.ts';
import { withCuts } from './turn/cut-answer.ts';
import {
  checkpoint,
  llmCompleted,
  assistantEntry,
  blankAnswer,
  identifiedCalls,
  type Answered,
  firstState,
  nextIteration,
  type TurnState,
} from './turn/events.ts';
import { finishAnswered, startToolRound, toolRoundStep, type ToolsFinished } from './turn/finish.ts';
import { askModel, callModelAfter, continueWithInput, resumeTurn, onSharedEvent } from './turn/model-call.ts';

const warning =
  'You have repeated the same tool calls with the same arguments as in your previous turn. ' +
  'Use the results you have, try something different, or give your final answer.';

/** Appended after a tool round that repeats the calls of the round before it. */
const cycleWarning = (iteration: number): EntryDraft => ({
  role: 'user',
  payload: { content: warning },
  refs: { kind: 'cycle_warning', iteration },
});

/** Equal for rounds with the same tool names and arguments; order and ids of the calls do not matter. */
const signatureOf = (calls: ToolCall[]): string =>
  hash(
    calls
      .map((call) => `${call.name}:${call.arguments_raw ?? JSON.stringify(call.arguments)}`)
      .sort()
      .join('\n'),
  );

/** Two 32-bit FNV-1a hashes: strong enough, because a signature is compared only with the previous one. */
function hash(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(i), 0x01000197);
  }
  return (a >>> 0).toString(16) + (b >>> 0).toString(16);
}

export interface ReactState extends TurnState {
  /** Signature of the last tool round, to detect a repetition. */
  signature?: string;
}

/**
 * ReAct: call the model, run the tools it calls, call it again, until it answers without tool calls or the iteration
 * limit is reached.
 */
export const react = withCuts<ReactState>({
  name: 'react',
  tools: true,
  output: true,
  start: (run) => askModel(run, firstState(run)),
  resume: (run, state) => resumeTurn(run, state ?? firstState(run)),
  on(run, state, event) {
    switch (event.type) {
      case 'model_answered':
        return onModelAnswered(run, state, event);
      case 'tools_finished':
        return onToolsFinished(run, state, event);
      default:
        return onSharedEvent('react', run, state, event);
    }
  },
});

function onModelAnswered(run: RunFacts, state: ReactState, event: Answered): StrategyDecision<ReactState> {
  const { turn } = event;
  const calls = identifiedCalls(run, state, event);
  const blank = calls.length === 0 ? blankAnswer(turn, event.whole) : undefined;
  if (blank) return { state, command: { type: 'fail', error: blank } };
  // The provider announced tool calls and sent nothing. A text, however it ended, is the answer.
  const nothing = calls.length === 0 && turn.finishReason === 'tool_calls' && (event.whole ?? turn.text).trim() === '';
  const turnType = calls.length > 0 || nothing ? 'tool_calls' : 'final_answer';
  const step = {
    entries: [assistantEntry(run, state, event, calls)],
    events: [llmCompleted(run, state, event, turnType), checkpoint(state, 'after_llm')],
  };
  if (calls.length > 0) return startToolRound(state, step, calls, event);
  const next = nextIteration(state);
  // A tool round without calls, which counts as an iteration.
  if (nothing) {
    step.events.push(checkpoint(next, 'after_tools'));
    return callModelAfter(run, next, step, event.spent);
  }
  const last = { ...step, continue: continueWithInput(run, next) };
  return finishAnswered(run, state, last, event);
}

function onToolsFinished(run: RunFacts, state: ReactState, event: ToolsFinished): StrategyDecision<ReactState> {
  const signature = signatureOf(event.calls);
  const step = toolRoundStep(state, event);
  if (run.cycleWarning !== false && signature === state.signature) step.entries.push(cycleWarning(state.iteration));
  return callModelAfter(run, { ...nextIteration(state), signature }, step, event.spent);
}
