import type { Json, ToolCall } from '../../agent/context/message.ts';
import { printable } from '../../base/log/printable.ts';

/** A message as printable text: its content, then a line per tool call. A tool message starts with the tool's name. */
export function messageText(message: { content?: Json; tool_calls?: Json; name?: Json }): string {
  const calls = ((message.tool_calls ?? []) as unknown as ToolCall[]).map(
    (call) => `→ ${call.name}(${call.arguments_raw ?? JSON.stringify(call.arguments)})`,
  );
  const of = typeof message.name === 'string' ? [`← ${message.name}`] : [];
  const content = typeof message.content === 'string' ? message.content : partsText(message.content ?? '');
  return printable([...of, ...(content === '' ? [] : [content]), ...calls].join('\n'));
}

const partsText = (content: Json): string =>
  Array.isArray(content)
    ? content
        .map((part) => (typeof Object(part).text === 'string' ? String(Object(part).text) : JSON.stringify(part)))
        .join('\n')
    : JSON.stringify(content);

/** Printable text on one line, cut to `width`. */
export function inOneLine(text: string, width: number): string {
  const line = printable(text.replace(/\s+/g, ' ').trim());
  return line.length > width ? `${line.slice(0, Math.max(20, width) - 1).toWellFormed()}…` : line;
}
