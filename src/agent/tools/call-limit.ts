import type { ToolCall } from '../context/message.ts';
import { errorMessage } from './error-message.ts';
import type { ToolOutcome } from './outcome.ts';

/** Maximum tool calls in one answer, unless an agent sets another limit; close to the limits of the providers. */
export const defaultMaxToolCalls = 128;

/**
 * The calls of an answer that are logged. An answer with too many keeps one more than the limit, enough to show that it
 * had too many: each call costs a row in the ledger and a message in every later request.
 */
export const loggedCalls = (calls: ToolCall[], limit: number): ToolCall[] => calls.slice(0, limit + 1);

/** The outcome of every call of an answer with too many calls; the model reads it and can make fewer. */
export const tooManyToolCalls = (limit: number): ToolOutcome => ({
  ...errorMessage({
    type: 'too_many_tool_calls',
    message: `Your answer made more than ${limit} tool calls, so none was executed. Make at most ${limit} at a time.`,
    retryable: false,
  }),
  attempts: 0,
  durationMs: 0,
});
