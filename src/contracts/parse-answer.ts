import type { Json, JsonObject } from '../context/message.ts';

export type Parsed = { ok: true; value: JsonObject } | { ok: false; message: string };

const fenced = /^```[\w-]*[ \t]*\r?\n([^]*?)\r?\n?```$/;

/**
 * The JSON object a text is, strictly: a single fenced block around all of it is taken off, words beside it are not
 * (reference 8.3).
 */
export function parseAnswer(text: string): Parsed {
  const trimmed = text.trim();
  const inner = fenced.exec(trimmed)?.[1] ?? trimmed;
  let value: Json;
  try {
    value = JSON.parse(inner) as Json;
  } catch (error) {
    return { ok: false, message: `The answer is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    const what = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
    return { ok: false, message: `The answer is ${what}, not a JSON object.` };
  }
  return { ok: true, value };
}
