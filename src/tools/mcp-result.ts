import { parseJson } from '../common/json.ts';
import type { Json } from '../context/message.ts';
import { ToolError } from './tool-error.ts';

/** A part of the content of an MCP result: text, image, audio, resource, resource_link, or a later type. */
interface McpPart {
  type?: unknown;
  text?: unknown;
  mimeType?: unknown;
  resource?: { uri?: unknown; mimeType?: unknown; text?: unknown; blob?: unknown };
}

/** MCP reports a failed tool as a result with `isError`, which the AI SDK treats as success. */
export function throwMcpError(output: unknown): void {
  const { isError, content, structuredContent: structured } = fieldsOf(output);
  if (isError !== true || (!Array.isArray(content) && structured === undefined)) return;
  const text = (Array.isArray(content) ? content : []).map(mcpPartText).join('\n');
  const message = saysAlready(text, structured) ? text : [text, JSON.stringify(structured)].filter(hasText).join('\n');
  throw new ToolError(message || 'The MCP tool reported an error without saying which', { retryable: false });
}

/** The structured content of a result without any other content; undefined if there is other content. */
export function onlyStructured(output: unknown): Json | undefined {
  const { content, structuredContent } = fieldsOf(output);
  if (structuredContent === undefined || !Array.isArray(content)) return undefined;
  return content.some((part) => hasText(mcpPartText(part))) ? undefined : (structuredContent as Json);
}

/**
 * The text of a part of an MCP result: its own, that of its resource, or a note in place of binary data. Links to
 * resources, and parts of unknown types, are shown as JSON.
 */
export function mcpPartText(part: McpPart): string {
  const { type, text, mimeType, resource } = part;
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'image' || type === 'audio') return omitted(type, mimeType);
  if (type !== 'resource' || !resource) return JSON.stringify(part);
  return typeof resource.text === 'string' ? resource.text : omitted(type, resource.uri, resource.mimeType);
}

export const omitted = (...what: unknown[]): string =>
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
