import { asSchema, type Tool as AiSdkTool } from '@ai-sdk/provider-utils';
import type { JsonObject } from '../context/message.ts';
import type { StateEffect } from '../context/state.ts';
import { checkTool, invalidTool } from './check-tool.ts';
import { openEffects, withEffects } from './effects.ts';
import { isAsyncIterable, lastValue } from './last-value.ts';
import { onlyStructured, throwMcpError } from './mcp-result.ts';
import { fromModelOutput } from './model-output.ts';
import { readLazySchema } from './schema.ts';
import { ToolError } from './tool-error.ts';
import { Handoff } from './handoff.ts';
import { Wait } from './wait.ts';
import type { NeedsApproval, Tool, ToolCallContext } from './tool.ts';

/**
 * Wraps a `tool()` of the AI SDK or a tool of an MCP client. The tool's `context` is the merged `tool_context`; its
 * `messages` are empty, because tools do not get the conversation.
 *
 * @throws LanefoldError `invalid_tool`
 */
export async function fromAiSdkTool(name: string, tool: AiSdkTool): Promise<Tool> {
  if (typeof tool !== 'object' || tool === null)
    throw invalidTool(name, 'is not a tool', 'List tools made with defineTool(), or a record { name: tool }.');
  const { execute } = tool;
  if (typeof execute !== 'function')
    throw invalidTool(name, 'has no execute function', 'Add one; Lanefold runs every tool itself.');
  if (tool.type === 'provider')
    throw invalidTool(name, 'runs at the provider', 'Implement it with tool() or defineTool().');
  if (tool.inputSchema === undefined) throw invalidTool(name, 'has no inputSchema');

  const schema = await readLazySchema(name, tool.inputSchema);
  const description = describe(name, tool);
  const { strict, inputExamples, providerOptions, needsApproval } = tool;
  return checkTool({
    name,
    ...(description !== undefined && { description }),
    inputSchema: schema.jsonSchema,
    validate: schema.validate,
    replay: 'safe',
    async execute(args, ctx) {
      const context = await readContext(tool, ctx.context);
      const returned = execute.call(tool, args, callOptions(ctx, context));
      const output = await (isAsyncIterable(returned) ? lastValue(returned, ctx.signal) : returned);
      const { result, offered } = openEffects(output);
      throwMcpError(result);
      if (!tool.toModelOutput || result instanceof Wait || result instanceof Handoff) return output;
      const { toolCallId } = ctx;
      const shown =
        onlyStructured(result) ??
        fromModelOutput(await tool.toModelOutput({ toolCallId, input: args, output: result }), result);
      return offered ? withEffects(shown, offered as StateEffect[]) : shown;
    },
    ...(strict !== undefined && { strict }),
    ...(inputExamples && { inputExamples }),
    ...(providerOptions && { providerOptions }),
    ...(needsApproval !== undefined && { needsApproval: approval(needsApproval) }),
  });
}

/** Whether an MCP client made the tool, so that a server has named it. */
export function isMcpTool(tool: unknown): boolean {
  const { type, metadata } = Object(tool) as { type?: unknown; metadata?: { toolName?: unknown } };
  return type === 'dynamic' || typeof metadata?.toolName === 'string';
}

// AI SDK 5 and 6 call it `experimental_context`, and MCP clients and tool packages still use them.
const callOptions = ({ toolCallId, signal }: ToolCallContext, context: unknown) => ({
  toolCallId,
  messages: [],
  abortSignal: signal,
  context,
  experimental_context: context,
});

function describe(name: string, { description }: AiSdkTool): string | undefined {
  if (typeof description !== 'function') return description;
  try {
    return description({ context: {} });
  } catch (error) {
    throw invalidTool(name, 'has a description that depends on the context', 'Use a string as the description.', error);
  }
}

async function readContext({ contextSchema }: AiSdkTool, context: JsonObject): Promise<unknown> {
  const result = contextSchema && (await asSchema(contextSchema).validate?.(context));
  if (!result) return context;
  if (!result.success) throw new ToolError(result.error.message, { type: 'invalid_context', retryable: false });
  return result.value;
}

const approval = (needs: NonNullable<AiSdkTool['needsApproval']>): NeedsApproval =>
  typeof needs === 'function'
    ? (args, { toolCallId, context }) => needs(args, { toolCallId, messages: [], context })
    : needs;
