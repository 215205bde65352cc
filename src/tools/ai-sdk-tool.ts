import { asSchema, type Tool as AiSdkTool } from '@ai-sdk/provider-utils';
import type { JsonObject } from '../context/message.ts';
import type { StateEffect } from '../context/state.ts';
import { checkTool, invalidTool } from './check-tool.ts';
import { openEffects, withEffects } from './effects.ts';
import { isAsyncIterable, lastValue } from './last-value.ts';
import { fromModelOutput, throwMcpError } from './model-output.ts';
import { readLazySchema } from './schema.ts';
import { ToolError } from './tool-error.ts';
import type { NeedsApproval, Tool, ToolCallContext } from './tool.ts';

/**
 * Wraps a `tool()` of the AI SDK, or a tool of an MCP client. `context` is the merged `tool_context`; `messages` is
 * empty, because tools run apart from the conversation. Errors: `invalid_tool`.
 */
export async function fromAiSdkTool(name: string, tool: AiSdkTool): Promise<Tool> {
  if (typeof tool !== 'object' || tool === null)
    throw invalidTool(name, 'is no tool', 'List tools of defineTool(), or a record { name: tool }.');
  const { execute } = tool;
  if (typeof execute !== 'function')
    throw invalidTool(name, 'has no execute function', 'Give it one; Lanefold runs every tool itself.');
  if (tool.type === 'provider')
    throw invalidTool(name, 'is defined by a provider', 'Wrap what it does in tool() or defineTool().');
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
      if (!tool.toModelOutput) return output;
      const told = { toolCallId: ctx.toolCallId, input: args, output: result };
      const shown = fromModelOutput(await tool.toModelOutput(told));
      return offered ? withEffects(shown, offered as StateEffect[]) : shown;
    },
    ...(strict !== undefined && { strict }),
    ...(inputExamples && { inputExamples }),
    ...(providerOptions && { providerOptions }),
    ...(needsApproval !== undefined && { needsApproval: approval(needsApproval) }),
  });
}

// `experimental_context` is what versions 5 and 6 of the AI SDK call it; MCP clients and tool packages lag behind.
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
    throw invalidTool(name, 'has a description that needs a context', 'Give it a fixed description.', error);
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
