import type { Json, ToolCall } from '../../context/message.ts';
import type { EventDraft, StrategyState, CallOutcome, RunFacts } from '../machine.ts';
import { cutOf } from '../cut-of.ts';
import type { Answered } from './model-answer.ts';
import { callId, type TurnState } from './state.ts';

type Data = Record<string, Json>;

export const llmStarted = (run: RunFacts, state: TurnState): EventDraft => ({
  kind: 'llm_started',
  iteration: state.iteration,
  data: { call_id: callId(run, state), model: run.model },
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
    ...(refs?.['model'] ? { model: refs['model'] } : {}),
    ...cutOf(refs),
    finish_reason: turn.finishReason,
    usage: turn.usage,
    ...(turn.responseId ? { llm_response_id: turn.responseId } : {}),
  },
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
