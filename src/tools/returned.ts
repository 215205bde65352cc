import { openEffects } from './effects.ts';
import type { ToolOutcome } from './outcome.ts';
import { renderResult } from './result.ts';
import { ToolError } from './tool-error.ts';
import { Wait } from './wait.ts';

/** What a tool returned, without its effects. @throws ToolError for a wait with effects, because its result comes later */
export function openReturned(value: unknown): ReturnType<typeof openEffects> {
  const opened = openEffects(value);
  if (opened.offered && opened.result instanceof Wait) {
    throw new ToolError('A call that waits cannot change the state of the thread; return the wait alone', {
      ...{ type: 'invalid_result', retryable: false },
    });
  }
  return opened;
}

/** A result as the model sees it, or what the call waits for. Never throws. */
export const renderReturned = (
  result: unknown,
  maxBytes: number,
): Pick<ToolOutcome, 'status' | 'content' | 'error' | 'cleaned' | 'wait'> =>
  result instanceof Wait ? { status: 'waiting', content: '', wait: result.request } : renderResult(result, maxBytes);
