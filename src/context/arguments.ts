import type { Json, JsonObject } from './message.ts';

/** The arguments of a call as their JSON object, or what their text is instead. */
export type ReadArguments = { ok: true; value: JsonObject } | { ok: false; problem: string };

/**
 * Reads the text that a model wrote as the arguments of a call. A blank text is a call without arguments: servers send one
 * for tools that take none.
 */
export function readArguments(written: string): ReadArguments {
  if (written.trim() === '') return { ok: true, value: {} };
  let value: Json;
  try {
    value = JSON.parse(written, mayExceed.test(written) ? withoutInfinity : undefined) as Json;
  } catch (error) {
    return { ok: false, problem: error instanceof TooLarge ? error.message : 'they are not valid JSON' };
  }
  return asArguments(value);
}

/** The same for a value, for calls of which the log has no text. */
export function asArguments(value: Json | undefined): ReadArguments {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ok: true, value };
  return { ok: false, problem: `they are ${nameOf(value)}` };
}

/** A text that may have a number which is read as infinite; few texts have an exponent, and a reviver costs. */
const mayExceed = /\de\+?\d|\d{300}/i;

class TooLarge extends Error {}

function withoutInfinity(key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new TooLarge(`the number at ${JSON.stringify(key)} is too large`);
}

function nameOf(value: Json | undefined): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}
