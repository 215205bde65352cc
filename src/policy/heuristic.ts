import type { ContentPart, Message } from '../context/message.ts';

const perMessage = 10;
/** An image at the size providers scale it down to; other files have no formula and are rarely smaller. */
const perFile = 1_600;

const bytes = (text: string): number => Buffer.byteLength(text, 'utf8');
const jsonBytes = (value: unknown): number => (value == null ? 0 : bytes(JSON.stringify(value)));

/**
 * Tokens of a message without a tokenizer: a quarter of its UTF-8 bytes, arguments as compact JSON, and 10 for each tool
 * call, or for the message. Good to a third for English; `calibrated` corrects it.
 */
export function heuristicTokens(message: Message): number {
  const { content, tool_calls: calls = [] } = message;
  let size = typeof content === 'string' ? bytes(content) : 0;
  let files = 0;
  if (typeof content !== 'string') {
    for (const part of content) {
      if (part.type === 'file') files += perFile;
      else size += textBytes(part);
    }
  }
  for (const call of calls) size += jsonBytes(call.arguments);
  if (message.reasoning_details != null) size += jsonBytes(message.reasoning_details);
  else if (message.thinking) size += bytes(message.thinking);
  return Math.floor(size / 4) + perMessage * Math.max(1, calls.length) + files;
}

const textBytes = (part: ContentPart): number =>
  part.type === 'text' && typeof part.text === 'string' ? bytes(part.text) : jsonBytes(part);

/** Tokens of the tools offered with a request, by the same rule. */
export const toolTokens = (tools: readonly object[]): number =>
  tools.reduce((sum, tool) => sum + Math.floor(jsonBytes(tool) / 4) + perMessage, 0);
