import type { Json, ToolCall, JsonObject } from '../../agent/context/message.ts';
import { printable } from '../../base/log/logger.ts';
import type { ContextProjection } from '../../runs/operations/contexts/project.ts';
import { colours } from './output.ts';

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

const number = (value: number): string => value.toLocaleString('en');

/** A projection as text: its cost, then a line for each message of the lane with the reason it is sent or not. */
export function showProjection({ messages, meta, explain = [] }: ContextProjection): string {
  const c = colours();
  const texts = new Map(messages.map((row) => [`${row.seq} ${row.role}`, messageText(row)]));
  const limit = meta.budget === null ? 'no limit' : `${number(meta.budget)} tokens`;
  const flags = [
    meta.truncated && 'truncated',
    meta.over_budget && 'over budget',
    meta.summary_used && 'with a summary',
  ];
  const head = [
    `${meta.entries_included} of ${meta.entries_total} messages`,
    `${number(meta.estimated_tokens)} tokens (${printable(meta.estimator.name)})`,
    `budget: ${limit}`,
    ...flags.filter((flag) => typeof flag === 'string'),
  ];
  const lines = explain.map(({ seq, role, tokens, included, reason, message }) => {
    const cells = [
      `#${seq}`.padStart(6),
      role.padEnd(9),
      number(tokens).padStart(8),
      included ? '+' : '-',
      reason.padEnd(15),
    ];
    const text = inOneLine(
      (message ? messageText(message as unknown as JsonObject) : texts.get(`${seq} ${role}`)) ?? '',
      50,
    );
    const line = `${cells.join(' ')} ${text}`.trimEnd();
    return included ? line : c.dim(line);
  });
  return [head.join(', '), '', ...lines].join('\n');
}

/**
 * A result for people: its text; for a structured result its `answer`, or the content of its `best`; else its JSON.
 * Undefined for a run that ended without an answer. A search that found no line with the answer shows what the model
 * wrote.
 */
export function readableAnswer(result: Json): string | undefined {
  if (result === null) return undefined;
  if (typeof result === 'string') return result;
  const { answer, best, raw_response: written } = Object(result) as JsonObject;
  if (typeof answer === 'string') return answer;
  if (answer === null && typeof written === 'string') return written === '' ? undefined : written;
  const { content } = Object(best) as JsonObject;
  return typeof content === 'string' ? content : JSON.stringify(result);
}
