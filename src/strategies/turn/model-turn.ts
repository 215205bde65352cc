import type { Json, JsonObject, ModelTurn, ToolCall } from '../../context/message.ts';
import type { Decision, EntryDraft, EventDraft, MachineEvent, RunError, RunFacts } from '../machine.ts';
import { callId, type ReactState } from './state.ts';
import { settle } from './finish.ts';
import { advance, checkpoint, finishAtLimit, llmStarted } from './steps.ts';

type Answered = Extract<MachineEvent, { type: 'model_answered' }>;

/** Finish reasons with which an empty final answer is a real one (reference 1.7). */
const benign = new Set([null, 'stop', 'tool_calls']);

export function onModelAnswered(run: RunFacts, state: ReactState, event: Answered): Decision<ReactState> {
  const { turn } = event;
  const blank = turn.toolCalls.length === 0 ? blankAnswer(turn) : undefined;
  if (blank) return { state, command: { type: 'fail', error: blank } };
  const calls = turn.toolCalls.map((call, i) =>
    call.id ? call : { ...call, id: `call_${callId(run.runId, state)}.${i}` },
  );
  const turnType = calls.length > 0 || turn.finishReason === 'tool_calls' ? 'tool_calls' : 'final_answer';
  const entries = [assistantEntry(run, state, event, calls)];
  const events: EventDraft[] = [llmCompleted(run, state, event, turnType), checkpoint(state, 'after_llm')];
  if (calls.length > 0)
    return startRound({ ...state, ...(event.tools ? { tools: event.tools } : {}) }, entries, events, calls);

  const next = advance(state);
  const atLimit = next.iteration > run.maxIterations;
  if (turnType === 'tool_calls') {
    // a provider announced calls and sent none: a round without tools, which still counts
    return atLimit
      ? finishAtLimit(run, next, { entries, events })
      : {
          state: next,
          step: { entries, events, drain: true, thenEvents: [llmStarted(run, next)] },
          command: { type: 'call_model', callId: callId(run.runId, next) },
        };
  }
  const overtaken = { state: next, events: atLimit ? [] : [llmStarted(run, next)] };
  const step = { entries, events, continue: overtaken };
  return settle(run, state, step, { reason: 'final_answer', checked: event.checked });
}

function startRound(
  state: ReactState,
  entries: EntryDraft[],
  events: EventDraft[],
  calls: ToolCall[],
): Decision<ReactState> {
  const started = calls.map((call): EventDraft => ({
    kind: 'tool_started',
    iteration: state.iteration,
    entry: 0,
    data: { tool_call_id: call.id, tool_name: call.name },
  }));
  const next: ReactState = { ...state, phase: 'tools', round: state.round + 1 };
  return {
    state: next,
    step: {
      entries,
      events: [...events, ...started],
      calls: calls.map((call, index) => ({ index, id: call.id, name: call.name })),
    },
    command: { type: 'run_tools', round: next.round, calls },
  };
}

/** Why an answer without text is not one, if it is not. */
export function blankAnswer(turn: ModelTurn): RunError | undefined {
  if (turn.text.trim() !== '' || benign.has(turn.finishReason)) return undefined;
  return { type: 'llm_response', message: `The model ended its turn without an answer (${turn.finishReason}).` };
}

/** The event of a turn whose message is the first entry of its step. */
export const llmCompleted = (run: RunFacts, state: ReactState, event: Answered, turnType: string): EventDraft => {
  const { turn } = event;
  return {
    kind: 'llm_completed',
    iteration: state.iteration,
    entry: 0,
    data: {
      call_id: callId(run.runId, state),
      turn_type: turnType,
      ...(event.refs?.['model'] ? { model: event.refs['model'] } : {}),
      finish_reason: turn.finishReason,
      usage: turn.usage,
      ...(turn.responseId ? { llm_response_id: turn.responseId } : {}),
    },
  };
};

export function assistantEntry(run: RunFacts, state: ReactState, event: Answered, calls: ToolCall[]): EntryDraft {
  const { turn } = event;
  const payload: JsonObject = { content: turn.text };
  if (calls.length > 0) payload['tool_calls'] = calls as unknown as Json;
  if (turn.thinking) payload['thinking'] = turn.thinking;
  if (turn.reasoningDetails !== undefined) payload['reasoning_details'] = turn.reasoningDetails;
  if (turn.providerMetadata !== undefined) payload['provider_metadata'] = turn.providerMetadata;
  return {
    role: 'assistant',
    payload,
    refs: {
      context_hash: event.contextHash,
      llm_call_id: callId(run.runId, state),
      iteration: state.iteration,
      ...(turn.cleaned ? { cleaned: true } : {}),
      ...event.refs,
    },
  };
}
