import type { Json, ToolCall } from '../context/message.ts';
import { runAttempt } from './attempt.ts';
import type { ToolOutcome } from './execute.ts';
import { renderError } from './result.ts';
import { readThrown } from './tool-error.ts';
import type { PendingCallContext } from './tool.ts';

/** A call as the model made it, before anything is done about it. */
export interface GuardedCall extends PendingCallContext {
  name: string;
  /** A copy: the call itself stays as the model made it. */
  arguments: Json;
}

/** Nothing or `true` lets the call through; `{ block }` gives the model the reason instead of a result. */
export type GuardVerdict = void | boolean | { block: string };

/**
 * Looks at every call of a round, in call order, before any of them starts (reference 2.1). A guard that throws, takes
 * longer than a tool may, or answers anything unexpected blocks the call.
 */
export type GuardTool = (call: GuardedCall) => GuardVerdict | PromiseLike<GuardVerdict>;

/** The outcome of a call the guard blocks, of error type `tool_guardrail`; undefined where it lets the call through. */
export async function askGuard(
  guard: GuardTool,
  call: ToolCall,
  ctx: PendingCallContext,
  timeoutMs: number,
): Promise<ToolOutcome | undefined> {
  const ask = (signal: AbortSignal) =>
    guard({ ...ctx, signal, name: call.name, arguments: structuredClone(call.arguments) });
  try {
    const verdict = (await runAttempt(ask, timeoutMs, ctx.signal)) as unknown;
    if (verdict === undefined || verdict === true) return undefined;
    const { block } = Object(verdict) as { block?: unknown };
    return blocked(typeof block === 'string' && block !== '' ? block : 'The call is not allowed.');
  } catch (error) {
    ctx.signal.throwIfAborted();
    return blocked(`The call could not be checked: ${readThrown(error).message}`);
  }
}

const blocked = (message: string): ToolOutcome => ({
  ...renderError({ type: 'tool_guardrail', message, retryable: false }),
  attempts: 0,
  durationMs: 0,
});
