import type { ReadyAgent } from '../../agent/definition/registry.ts';
import type { ToolCall } from '../../agent/context/message.ts';
import { runAttempt, callIdempotencyKey, checkArguments, type ToolCallBase } from '../../agent/tools/execute.ts';
import { type ToolOutcome, openReturned, renderReturned, unknownOutcome } from '../../agent/tools/outcome.ts';
import { runsAgain, type Tool } from '../../agent/tools/tool.ts';

/** Maximum size of a tool's result in bytes. A result that its tool marks (`resultRefs`) stays whole in the log. */
export const resultLimit = (agent: Pick<ReadyAgent, 'maxToolResultBytes' | 'maxInlineBytes'>, tool: Tool): number =>
  tool.resultRefs ? agent.maxInlineBytes : agent.maxToolResultBytes;

/** The outcome of a call that had started when its worker died; undefined if the call must run again. */
export async function afterCrash(
  tool: Tool,
  call: ToolCall,
  base: ToolCallBase,
  { attempts, signal, agent }: { attempts: number; signal: AbortSignal; agent: ReadyAgent },
): Promise<ToolOutcome | undefined> {
  const { replay } = tool;
  if (runsAgain(replay)) return undefined;
  const spent = { attempts, durationMs: 0 };
  if (replay !== 'never') {
    const key = callIdempotencyKey(base.runId, base.round, base.callIndex);
    const timeoutMs = tool.timeoutMs ?? agent.toolTimeoutMs;
    try {
      const checked = await checkArguments(tool, call, timeoutMs, signal);
      if (!checked.ok) return undefined;
      const verify = (own: AbortSignal) =>
        replay.verify(checked.value, {
          ...base,
          toolCallId: call.id,
          attempt: attempts,
          idempotencyKey: key,
          signal: own,
        });
      const found = (await runAttempt(verify, timeoutMs, signal)) as { result: unknown } | undefined;
      if (!found) return undefined;
      const { result, offered } = openReturned(found.result);
      const rendered = renderReturned(result, tool.maxResultBytes ?? resultLimit(agent, tool));
      return { ...rendered, ...spent, ...(offered && { offered }) };
    } catch {
      // A failed verification leaves the outcome unknown: running the tool again could repeat its effect.
      signal.throwIfAborted();
    }
  }
  return { ...lostWorker, ...spent };
}

/** The outcome of a call that had started, if nothing can say whether it took effect. */
export const lostWorker = unknownOutcome('The worker died while this tool was running');
