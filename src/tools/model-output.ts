import type { Tool as AiSdkTool } from '@ai-sdk/provider-utils';
import { represent } from './represent.ts';
import { mcpPartText, omitted } from './mcp-result.ts';
import { ToolError } from './tool-error.ts';

type ModelOutput = Awaited<ReturnType<NonNullable<AiSdkTool['toModelOutput']>>>;
type Part = Extract<ModelOutput, { type: 'content' }>['value'][number];

/**
 * The value to show the model for a result of the AI SDK's `toModelOutput`; error results throw a ToolError.
 *
 * Tool messages are text, so a `content` list keeps its text, with a note in place of each file.
 *
 * @param result what the tool returned
 */
export function fromModelOutput(output: ModelOutput, result: unknown): unknown {
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
