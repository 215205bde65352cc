import { openEffects } from './effects.ts';
import { Handoff } from './handoff.ts';
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

/** A result as the model sees it, or what the call asks for instead. Never throws. */
export function renderReturned(
  result: unknown,
  maxBytes: number,
): Pick<ToolOutcome, 'status' | 'content' | 'error' | 'cleaned' | 'wait' | 'handoff'> {
  if (result instanceof Wait) return { status: 'waiting', content: '', wait: result.request };
  if (result instanceof Handoff) return { status: 'ok', content: '', handoff: result.request };
  return renderResult(result, maxBytes);
}
