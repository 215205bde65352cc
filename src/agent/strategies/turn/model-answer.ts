import type { Json, JsonObject, ModelTurn, ToolCall } from '../../context/message.ts';
import type { EntryDraft, StrategyEvent, RunFacts } from '../machine.ts';
import type { RunError } from '../run-error.ts';
import { callId, type TurnState } from './state.ts';

export type Answered = Extract<StrategyEvent, { type: 'model_answered' }>;

/** Finish reasons with which a model may end a run without text. */
const benign = new Set([null, 'stop', 'tool_calls']);

/** The error of an answer that is blank because the model was cut off; undefined for any other answer. */
export function blankAnswer(turn: ModelTurn, whole = turn.text): RunError | undefined {
  if (whole.trim() !== '' || benign.has(turn.finishReason)) return undefined;
  return { type: 'llm_response', message: `The model ended its turn without an answer (${turn.finishReason}).` };
}

/** The tool calls of an answer, with generated ids for those that the provider left without one. */
export const identifiedCalls = (run: RunFacts, state: TurnState, { turn }: Answered): ToolCall[] =>
  turn.toolCalls.map((call, i) => (call.id ? call : { ...call, id: `call_${callId(run, state)}.${i}` }));

export function assistantEntry(run: RunFacts, state: TurnState, event: Answered, calls: ToolCall[]): EntryDraft {
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
      llm_call_id: callId(run, state),
      iteration: state.iteration,
      ...(turn.cleaned ? { cleaned: true } : {}),
      ...event.refs,
    },
  };
}
