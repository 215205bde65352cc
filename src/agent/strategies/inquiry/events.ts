import type { ContextRoom } from '../../policy/room.ts';
import type { EventDraft, StrategyEvent, RunFacts } from '../machine.ts';
import { cutOf } from '../cut-of.ts';
import type { StrategyQuestion } from './inquiry.ts';
import { callIdOf, type OpenCall } from './state.ts';

type Answered = Extract<StrategyEvent, { type: 'model_answered' }>;

const about = (run: RunFacts, { purpose }: StrategyQuestion, call: OpenCall) => ({
  call_id: callIdOf(run, call),
  node: call.node,
  purpose,
});

export const callStarted = (run: RunFacts, ask: StrategyQuestion, call: OpenCall): EventDraft => ({
  kind: 'llm_started',
  iteration: call.iteration,
  data: { ...about(run, ask, call), model: run.model },
});

export const callCompleted = (
  run: RunFacts,
  ask: StrategyQuestion,
  call: OpenCall,
  { turn, refs }: Answered,
): EventDraft => ({
  kind: 'llm_completed',
  iteration: call.iteration,
  data: {
    ...about(run, ask, call),
    turn_type: turn.toolCalls.length > 0 ? 'tool_calls' : 'answer',
    ...(refs?.['model'] ? { model: refs['model'] } : {}),
    ...cutOf(refs),
    finish_reason: turn.finishReason,
    usage: turn.usage,
    ...(turn.responseId ? { llm_response_id: turn.responseId } : {}),
  },
});

/** The worker died or released the run during the call. */
export const callLost = (run: RunFacts, ask: StrategyQuestion, call: OpenCall): EventDraft => ({
  kind: 'llm_lost',
  iteration: call.iteration,
  data: about(run, ask, call),
});

export const callRetried = (
  run: RunFacts,
  ask: StrategyQuestion,
  call: OpenCall,
  {
    error,
    delayMs,
    room,
  }: { error: { type: string; message: string }; delayMs: number; room?: ContextRoom | undefined },
): EventDraft => ({
  kind: 'llm_retry',
  iteration: call.iteration,
  data: {
    ...about(run, ask, call),
    attempt: call.retries + 1,
    delay_ms: delayMs,
    error: { ...error },
    ...(room ? { room: { ...room } } : {}),
  },
});
