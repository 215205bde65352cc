import type { ToolCall } from '../context/message.ts';
import { runAttempt } from './attempt.ts';
import { checkArguments } from './execute.ts';
import type { PendingCallContext, Tool } from './tool.ts';

/**
 * Whether a person must approve a call. One with invalid arguments is nobody's to approve: it fails by itself. A
 * predicate that throws or takes longer than a tool may is a yes, so that a fault of it runs nothing unseen.
 */
export async function asksApproval(
  tool: Tool,
  call: ToolCall,
  ctx: PendingCallContext,
  timeoutMs: number,
): Promise<boolean> {
  const { needsApproval: needs } = tool;
  if (!needs) return false;
  const checked = await checkArguments(tool, call.arguments, timeoutMs, ctx.signal);
  if (!checked.ok) return false;
  if (needs === true) return true;
  try {
    return Boolean(await runAttempt((signal) => needs(checked.value, { ...ctx, signal }), timeoutMs, ctx.signal));
  } catch {
    ctx.signal.throwIfAborted();
    return true;
  }
}
