import { parseJson } from '../../base/common/json.ts';
import type { Json, JsonObject } from '../context/message.ts';
import { ToolError } from './tool-error.ts';
import { asSchema, type Tool as AiSdkTool } from '@ai-sdk/provider-utils';
import type { StateEffect } from '../context/state.ts';
import { checkTool, invalidTool, type NeedsApproval, type Tool, type ToolCallContext } from './tool.ts';
import { openEffects, withEffects } from './effects.ts';
import { isAsyncIterable, lastValue } from './execute.ts';
import { readLazySchema } from './define-tool.ts';
import { Handoff } from './handoff.ts';
import { Wait } from './wait.ts';
import { represent } from './represent.ts';

/** A part of the content of an MCP result: text, image, audio, resource, resource_link, or a later type. */
interface McpPart {
  type?: unknown;
  text?: unknown;
  mimeType?: unknown;
  resource?: { uri?: unknown; mimeType?: unknown; text?: unknown; blob?: unknown };
}

/** MCP reports a failed tool as a result with `isError`, which the AI SDK treats as success. */
function throwMcpError(output: unknown): void {
  const { isError, content, structuredContent: structured } = fieldsOf(output);
  if (isError !== true || (!Array.isArray(content) && structured === undefined)) return;
  const text = (Array.isArray(content) ? content : []).map(mcpPartText).join('\n');
  const message = saysAlready(text, structured) ? text : [text, JSON.stringify(structured)].filter(hasText).join('\n');
  throw new ToolError(message || 'The MCP tool reported an error without saying which', { retryable: false });
}

/** The structured content of a result without any other content; undefined if there is other content. */
function onlyStructured(output: unknown): Json | undefined {
  const { content, structuredContent } = fieldsOf(output);
  if (structuredContent === undefined || !Array.isArray(content)) return undefined;
  return content.some((part) => hasText(mcpPartText(part))) ? undefined : (structuredContent as Json);
}

/**
 * The text of a part of an MCP result: its own, its resource's, or a note in place of binary data. Links to
 * resources, and parts of unknown types, are shown as JSON.
 */
function mcpPartText(part: McpPart): string {
  const { type, text, mimeType, resource } = part;
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'image' || type === 'audio') return omitted(type, mimeType);
  if (type !== 'resource' || !resource) return JSON.stringify(part);
  return typeof resource.text === 'string' ? resource.text : omitted(type, resource.uri, resource.mimeType);
}

const omitted = (...what: unknown[]): string =>
  `[${what.filter((one) => typeof one === 'string' && one !== '').join(' ')}: omitted, because tool messages are text]`;

const fieldsOf = (output: unknown) =>
  Object(output) as { isError?: unknown; content?: McpPart[]; structuredContent?: unknown };

const hasText = (text: string | undefined): boolean => text !== undefined && text.trim() !== '';

/** Servers repeat structured content as text, for older clients. */
function saysAlready(text: string, structured: unknown): boolean {
  if (structured === undefined || structured === null) return true;
  try {
    return JSON.stringify(parseJson(text)) === JSON.stringify(structured);
  } catch {
    return false;
  }
}

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

type ModelOutput = Awaited<ReturnType<NonNullable<AiSdkTool['toModelOutput']>>>;
type Part = Extract<ModelOutput, { type: 'content' }>['value'][number];

/**
 * The value to show the model for a result of the AI SDK's `toModelOutput`; error results throw a ToolError.
 *
 * Tool messages are text, so a `content` list keeps its text, with a note in place of each file.
 *
 * @param result what the tool returned
 */
function fromModelOutput(output: ModelOutput, result: unknown): unknown {
  switch (output.type) {
    case 'text':
    case 'json':
      return output.value;
    case 'content': {
      const { content } = Object(result) as { content?: unknown };
      const parts: unknown[] = Array.isArray(content) ? content : [];
      return output.value.map((part, i) => asMcpPart(part, parts[i])).join('\n');
    }
    case 'error-text':
      throw new ToolError(output.value, { retryable: false });
    case 'error-json':
      throw new ToolError(JSON.stringify(represent(output.value)), { retryable: false });
    case 'execution-denied':
      throw new ToolError(output.reason ?? 'Execution was denied', { type: 'denied', retryable: false });
    default:
      return output;
  }
}

const partText = (part: Part): string =>
  part.type === 'text' ? part.text : omitted(part.type, 'mediaType' in part ? part.mediaType : undefined);

/** The AI SDK shows the model parts of an MCP result that it does not know as JSON, binary data included. */
const asMcpPart = (part: Part, from: unknown): string =>
  part.type === 'text' && typeof from === 'object' && from !== null && part.text === JSON.stringify(from)
    ? mcpPartText(from)
    : partText(part);
