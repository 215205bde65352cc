import { readJson } from '../../base/common/json.ts';
import type { Json, JsonObject } from '../context/message.ts';

export type Parsed = { ok: true; value: JsonObject } | { ok: false; message: string };

const fenced = /^```[\w-]*[ \t]*\r?\n([^]*?)\r?\n?```$/;

/** The text without the code fence around the whole of it, and without white space at its ends. */
export function withoutFence(text: string): string {
  const trimmed = text.trim();
  return fenced.exec(trimmed)?.[1] ?? trimmed;
}

/**
 * Parses an answer as one JSON object. A code fence around the whole answer is removed; any other text around the
 * object makes the answer invalid.
 */
export function parseAnswer(text: string): Parsed {
  const read = readJson(withoutFence(text));
  if (!read.ok)
    return { ok: false, message: read.kind === 'syntax' ? `The answer is not JSON: ${read.problem}` : read.problem };
  const value = read.value as Json;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    const what = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
    return { ok: false, message: `The answer is ${what}, not a JSON object.` };
  }
  return { ok: true, value };
}
