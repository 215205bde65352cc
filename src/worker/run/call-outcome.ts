import type { ModelTurn } from '../../agent/context/message.ts';
import type { ReadyAgent } from '../../agent/definition/registry.ts';
import { toUsage } from '../../agent/models/answer.ts';
import { estimateUsage } from '../../agent/models/estimate.ts';
import { classify } from '../../agent/models/classify-error.ts';
import type { StrategyEvent } from '../../agent/strategies/machine.ts';
import { type Answered } from '../../agent/strategies/turn/events.ts';
import { cleanText } from '../../base/checks/text.ts';
import type { AnswerSoFar } from '../../runs/streams/publish-deltas.ts';
import type { RunDependencies } from './dependencies.ts';
import type { PreparedCall } from './prepare-call.ts';

const shorten =
  'Shorten the newest message, the system prompt or the tools, lower maxOutputTokens, compact the lane, or give the ' +
  'window of the model with contextWindows.';

/** A failed model call, as an event for the machine. */
export function modelFailed(error: unknown): Extract<StrategyEvent, { type: 'model_failed' }> {
  const failure = classify(error, 'llm_request');
  return {
    type: 'model_failed',
    error: {
      type: failure.errorType,
      message: failure.errorType === 'context_too_long' ? `${failure.message} ${shorten}` : failure.message,
    },
    // a timeout has already cost the whole idle time; whether to try again is for the caller to decide
    retryable: failure.retryable && failure.errorType !== 'timeout',
    ...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
  };
}

/**
 * What a model had written when its call was cancelled, as its answer: people have read it, and the next question may be
 * about it. Undefined if that is nothing. Its tokens are estimates, because the provider has not counted them yet.
 */
export function cutShort(
  { counting }: Pick<RunDependencies, 'counting'>,
  agent: ReadyAgent,
  callId: string,
  call: PreparedCall,
  written: AnswerSoFar,
): Answered | undefined {
  const [text, thinking] = [cleanText(written.text), cleanText(written.thinking)];
  if (text.trim() === '' && thinking.trim() === '') return undefined;
  const turn: ModelTurn = {
    text,
    toolCalls: [],
    finishReason: 'cancelled',
    usage: toUsage(undefined),
    ...(thinking === '' ? {} : { thinking }),
    ...(text === written.text && thinking === written.thinking ? {} : { cleaned: true }),
  };
  return {
    type: 'model_answered',
    callId,
    turn: { ...turn, usage: estimateUsage(counting, call, turn) },
    contextHash: call.contextHash,
    refs: { ...call.refs, agent_version: agent.version.id },
  };
}
