import { classify } from '../../agent/models/errors/classify.ts';
import type { StrategyEvent } from '../../agent/strategies/machine.ts';

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
