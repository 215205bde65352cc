import type { Json, ToolCall, JsonObject, ModelTurn } from '../../context/message.ts';
import type { EventDraft, StrategyState, CallOutcome, RunFacts, EntryDraft, StrategyEvent } from '../machine.ts';
import type { RunError } from '../records.ts';
import { firstPlace, modelAt, placeAfter, type ChainPlace } from '../fallback.ts';

type Data = Record<string, Json>;

export const llmStarted = (run: Pick<RunFacts, 'runId' | 'model' | 'chain'>, state: TurnState): EventDraft => ({
  kind: 'llm_started',
  iteration: state.iteration,
  data: { call_id: callId(run, state), model: modelAt(run, state.place) },
});

/** The event about the first entry of its step. */
export const llmCompleted = (
  run: RunFacts,
  state: TurnState,
  { turn, refs }: Answered,
  turnType: 'tool_calls' | 'final_answer',
): EventDraft => ({
  kind: 'llm_completed',
  iteration: state.iteration,
  entry: 0,
  data: {
    call_id: callId(run, state),
    turn_type: turnType,
    ...answerFacts({ turn, refs }),
  },
});

/** What an event says about the answer of a model call. */
export const answerFacts = ({ turn, refs }: Pick<Answered, 'turn' | 'refs'>): JsonObject => ({
  ...(refs?.['model'] ? { model: refs['model'] } : {}),
  ...(refs?.['fallback'] ? { fallback: true } : {}),
  ...cutOf(refs),
  finish_reason: turn.finishReason,
  usage: turn.usage,
  ...(turn.responseId ? { llm_response_id: turn.responseId } : {}),
});

/** The worker died during the model call. */
export const llmLost = (run: RunFacts, state: TurnState): EventDraft => ({
  kind: 'llm_lost',
  iteration: state.iteration,
  data: { call_id: callId(run, state) },
});

export const llmRetry = (state: StrategyState, data: Data): EventDraft => ({
  kind: 'llm_retry',
  iteration: state.iteration,
  data,
});

/** The event about the assistant message, which is the first entry of its step. */
export const toolStarted = (state: StrategyState, call: ToolCall): EventDraft => ({
  kind: 'tool_started',
  iteration: state.iteration,
  entry: 0,
  data: { tool_call_id: call.id, tool_name: call.name },
});

export const toolCompleted = (
  state: StrategyState,
  call: ToolCall,
  outcome: CallOutcome,
  entry: number,
): EventDraft => ({
  kind: 'tool_completed',
  iteration: state.iteration,
  entry,
  data: {
    tool_call_id: call.id,
    tool_name: call.name,
    status: outcome.status,
    attempts: outcome.attempts,
    duration_ms: outcome.durationMs,
    ...(outcome.refused ? { refused_effects: outcome.refused } : {}),
    ...(outcome.refs ? { refs: outcome.refs } : {}),
  },
});

export const checkpoint = (state: StrategyState, reason: 'after_llm' | 'after_tools'): EventDraft => ({
  kind: 'checkpoint',
  iteration: state.iteration,
  data: { reason },
});

type OutputEvent = 'output_started' | 'output_validated' | 'output_repair' | 'output_failed';

/** An event about the output; each describes the contract. */
export const outputEvent = (kind: OutputEvent, run: RunFacts, state: StrategyState, data: Data): EventDraft => ({
  kind,
  iteration: state.iteration,
  data: { ...run.output!.meta, ...data },
});

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

export const assistantEntry = (run: RunFacts, state: TurnState, event: Answered, calls: ToolCall[]): EntryDraft => ({
  role: 'assistant',
  payload: assistantPayload(event.turn, calls),
  refs: {
    context_hash: event.contextHash,
    llm_call_id: callId(run, state),
    iteration: state.iteration,
    ...(event.turn.cleaned ? { cleaned: true } : {}),
    ...event.refs,
  },
});

/** An assistant message as the log stores it. */
export function assistantPayload(turn: ModelTurn, calls: ToolCall[]): JsonObject {
  const payload: JsonObject = { content: turn.text };
  if (calls.length > 0) payload['tool_calls'] = calls as unknown as Json;
  if (turn.thinking) payload['thinking'] = turn.thinking;
  if (turn.reasoningDetails !== undefined) payload['reasoning_details'] = turn.reasoningDetails;
  if (turn.providerMetadata !== undefined) payload['provider_metadata'] = turn.providerMetadata;
  return payload;
}

/**
 * State of a strategy built on turns, stored with every step. A resumed run has only this state, the log and the
 * ledger.
 */
export interface TurnState extends StrategyState {
  /** Number of the last model call started; `<run_id>.<call_no>` is its id. */
  call_no: number;
  /** Retries so far of the current model call or repair. */
  retries: number;
  /** Where the current call is in the chain of models; absent: at the first. */
  place?: ChainPlace | undefined;
  /** How many cut answers the next one continues. */
  parts?: number | undefined;
  /** The current model call was refused as too long and is made once more with a shorter request. */
  shortened?: true | undefined;
  /** Set while the output is being repaired. */
  output?: RepairState;
}

export interface RepairState {
  /** Repairs started so far. */
  attempt: number;
  /** Why the answer, or its last repair, violates the contract. */
  error: string;
  /** The check timed out, so no repair follows. */
  timed_out?: true;
  /** Of the answer. */
  finish_reason: string | null;
}

/** The run waits for its first model call. */
export function firstState(run: RunFacts): TurnState {
  const place = firstPlace(run);
  return { phase: 'llm', iteration: 1, round: 0, call_no: 1, retries: 0, ...(place ? { place } : {}) };
}

/** The run waits for the model call of its next iteration. */
export const nextIteration = <S extends TurnState>(state: S): S => ({
  ...state,
  phase: 'llm',
  iteration: state.iteration + 1,
  call_no: state.call_no + 1,
  retries: 0,
  ...(state.tools ? { tools: undefined } : {}),
  ...(state.cut ? { cut: undefined } : {}),
  ...(state.place ? { place: placeAfter(state.place) } : {}),
  ...(state.parts ? { parts: undefined } : {}),
  ...(state.shortened ? { shortened: undefined } : {}),
});

export const callId = (run: { runId: string }, state: TurnState): string => `${run.runId}.${state.call_no}`;

/**
 * Describes the context cut of a call in its event, for readers of the trace alone. `moved`: the policy leaves out
 * different messages than in the previous call, which ends what the provider has cached; `kept`: the same messages;
 * `lifted`: it leaves out nothing any more.
 */
function cutOf(refs: JsonObject | undefined): { cut?: 'moved' | 'kept' | 'lifted'; over_budget?: true } {
  const { dropped, dropped_positions: positions, kinds_cut: kinds, cut_moved: moved, over_budget: over } = refs ?? {};
  const cut = dropped || positions || kinds ? (moved ? 'moved' : 'kept') : moved ? 'lifted' : undefined;
  return { ...(cut ? { cut } : {}), ...(over ? { over_budget: true } : {}) };
}
