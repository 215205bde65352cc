import type { Tool as AiSdkTool } from '@ai-sdk/provider-utils';
import { represent } from './represent.ts';
import { ToolError } from './tool-error.ts';

type ModelOutput = Awaited<ReturnType<NonNullable<AiSdkTool['toModelOutput']>>>;
type Part = Extract<ModelOutput, { type: 'content' }>['value'][number];

/**
 * The value to show the model for a result of the AI SDK's `toModelOutput`; error results throw a ToolError.
 *
 * Tool messages are text, so a `content` list keeps its text, with a note in place of each file.
 */
export function fromModelOutput(output: ModelOutput): unknown {
  switch (output.type) {
    case 'text':
    case 'json':
      return output.value;
    case 'content':
      return output.value.map(partText).join('\n');
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

/** MCP reports a failed tool as a result with `isError`, which the AI SDK treats as success. */
export function throwMcpError(output: unknown): void {
  const { isError, content } = Object(output) as { isError?: unknown; content?: unknown };
  if (isError !== true || !Array.isArray(content)) return;
  throw new ToolError((content as Part[]).map(partText).join('\n'), { retryable: false });
}

const partText = (part: Part): string => {
  if (part.type === 'text') return part.text;
  const kind = 'mediaType' in part && part.mediaType ? `${part.type} ${part.mediaType}` : part.type;
  return `[${kind}: omitted, because tool messages are text]`;
};
