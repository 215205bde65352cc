import type { JsonObject } from '../../context/message.ts';

/** The JSON object a text consists of, or that of its first ```json fence; undefined where there is none. */
export const jsonIn = (text: string): JsonObject | undefined => objectOf(fenced(text)) ?? objectOf(text);

function objectOf(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function fenced(text: string): string | undefined {
  const opening = /```json\b/iu.exec(text);
  if (!opening) return undefined;
  const from = opening.index + opening[0].length;
  const to = text.indexOf('```', from);
  return text.slice(from, to < 0 ? undefined : to);
}
