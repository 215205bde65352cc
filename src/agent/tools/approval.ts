import type { ToolCall } from '../context/message.ts';
import { runAttempt } from './attempt.ts';
import { checkArguments } from './execute.ts';
import type { PendingCallContext, Tool } from './tool.ts';

/**
 * Whether a call needs human approval. A call with invalid arguments needs none, because it fails anyway. If the
 * predicate throws or exceeds the tool timeout, the call needs approval: a broken predicate must not let calls through.
 */
export async function asksApproval(
  tool: Tool,
  call: ToolCall,
  ctx: PendingCallContext,
  timeoutMs: number,
): Promise<boolean> {
  const { needsApproval: needs } = tool;
  if (!needs) return false;
  const checked = await checkArguments(tool, call, timeoutMs, ctx.signal);
  if (!checked.ok) return false;
  if (needs === true) return true;
  try {
    return Boolean(await runAttempt((signal) => needs(checked.value, { ...ctx, signal }), timeoutMs, ctx.signal));
  } catch {
    ctx.signal.throwIfAborted();
    return true;
  }
}
