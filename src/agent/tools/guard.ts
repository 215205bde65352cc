import type { Json, ToolCall } from '../context/message.ts';
import { runAttempt } from './attempt.ts';
import type { ToolOutcome } from './outcome.ts';
import { errorMessage } from './error-message.ts';
import { readThrown } from './tool-error.ts';
import type { PendingCallContext } from './tool.ts';

/** A tool call as the model made it. */
export interface GuardedCall extends PendingCallContext {
  name: string;
  /** A copy; changing it does not change the call. */
  arguments: Json;
}

/**
 * Undefined or `true` allows the call; `{ block }` blocks it and gives the model the reason instead of a result; `{
 * fail }` ends the run as failed before any tool of the round starts.
 */
export type GuardVerdict = void | boolean | { block: string } | { fail: string };

/** A guard has failed the run. */
export class GuardFailure extends Error {
  override readonly name = 'GuardFailure';
}

/**
 * Inspects every call of a round, in call order, before any of them starts. A guard that throws, exceeds the tool
 * timeout or returns anything else blocks the call.
 */
export type GuardTool = (call: GuardedCall) => GuardVerdict | PromiseLike<GuardVerdict>;

/**
 * The outcome of a blocked call, with error type `tool_guardrail`; undefined if the guard allows the call.
 *
 * @throws GuardFailure if the guard fails the run
 */
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
    const { block, fail } = Object(verdict) as { block?: unknown; fail?: unknown };
    if (typeof fail === 'string') throw new GuardFailure(fail || 'The call is not allowed.');
    return blocked(typeof block === 'string' && block !== '' ? block : 'The call is not allowed.');
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (error instanceof GuardFailure) throw error;
    return blocked(`The guard could not check the call: ${readThrown(error).message}`);
  }
}

const blocked = (message: string): ToolOutcome => ({
  ...errorMessage({ type: 'tool_guardrail', message, retryable: false }),
  attempts: 0,
  durationMs: 0,
});
