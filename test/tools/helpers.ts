import type { Json, ToolCall } from '../../src/agent/context/message.ts';
import type { ToolCallBase } from '../../src/agent/tools/execute.ts';
import type { ToolOutcome } from '../../src/agent/tools/outcome.ts';
import { defineTool, type ToolDefinition } from '../../src/agent/tools/define-tool.ts';
import type { Tool, ToolCallContext } from '../../src/agent/tools/tool.ts';

export const base: ToolCallBase = {
  threadId: 'thread_1',
  runId: 'run_1',
  requestId: 'req_1',
  iteration: 2,
  round: 1,
  callIndex: 3,
  state: { step: 1 },
  context: { tenant: 'acme' },
};

export const call = (args: Json = {}, name = 'probe', id = 'call_1'): ToolCall => ({ id, name, arguments: args });

export const toolOf = (
  execute: (args: unknown, ctx: ToolCallContext) => unknown,
  more: Partial<ToolDefinition<unknown>> = {},
): Tool => defineTool<unknown>({ name: 'probe', input: { type: 'object' }, execute, ...more });

export const ok = (content: string): ToolOutcome => ({ status: 'ok', content, attempts: 1, durationMs: 0 });

/** A promise that the test settles. */
export function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
}
