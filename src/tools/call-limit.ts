import type { ToolCall } from '../context/message.ts';
import { errorMessage } from './error-message.ts';
import type { ToolOutcome } from './outcome.ts';

/** Tool calls of one answer that are executed, unless an agent says otherwise; the providers' own limits are near it. */
export const defaultMaxToolCalls = 128;

/**
 * The calls of an answer that go to the log. Of too many it keeps one more than the limit, which says that they were, whatever
 * their number was: each call costs a row in the ledger and a message in every later request.
 */
export const loggedCalls = (calls: ToolCall[], limit: number): ToolCall[] => calls.slice(0, limit + 1);

/** The outcome of every call of an answer with too many; the model reads it and can ask for fewer. */
export const tooManyToolCalls = (limit: number): ToolOutcome => ({
  ...errorMessage({
    type: 'too_many_tool_calls',
    message: `The answer made more than ${limit} tool calls, so none was executed. Make at most ${limit} at a time.`,
    retryable: false,
  }),
  attempts: 0,
  durationMs: 0,
});
