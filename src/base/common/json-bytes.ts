import { isUtf8 } from 'node:buffer';
import { isDeeper, maxRequestDepth, parseJson, readJson, tooDeep, type ReadJson } from './json.ts';

/** Parsing and checking this many values takes at most 200 ms. */
export const maxValues = 50_000;

export interface ReadBytes {
  /** How deep the value may be nested; default: as a request that carries content. */
  depth?: number;
  /** `kept`: the text itself is kept, so its numbers may have any number of digits. Default: as `readJson`. */
  numbers?: 'kept';
}

/**
 * Reads JSON that came in over a connection, and refuses what would block the process or change: text that is not UTF-8,
 * too many values, deep nesting, and numbers that a double cannot hold. Every door reads with it. Never throws.
 */
export function readJsonBytes(bytes: Buffer, { depth = maxRequestDepth, numbers }: ReadBytes = {}): ReadJson {
  if (!isUtf8(bytes)) return { ok: false, kind: 'syntax', problem: 'it is not UTF-8' };
  if (hasMoreValues(bytes, maxValues))
    return {
      ok: false,
      kind: 'values',
      problem: `The body has more than ${maxValues} values. Send it in parts.`,
    };
  const text = bytes.toString('utf8');
  if (numbers !== 'kept') return readJson(text, depth);
  if (isDeeper(text, depth)) return { ok: false, kind: 'depth', problem: tooDeep(depth) };
  try {
    return { ok: true, value: parseJson(text) };
  } catch (error) {
    return { ok: false, kind: 'syntax', problem: (error as Error).message };
  }
}

const [quote, backslash, comma, openBrace, openBracket] = Buffer.from('"\\,{[');

/**
 * Counts the values of a JSON text without parsing it, because parsing a few megabytes of keys blocks the event loop for
 * seconds. Stops at the limit. For text that is not JSON, the count means nothing.
 */
export function hasMoreValues(text: Buffer, limit: number): boolean {
  let values = 1;
  for (let at = 0; at < text.length && values <= limit; at++) {
    const byte = text[at];
    if (byte === quote) at = endOfString(text, at);
    else if (byte === comma || byte === openBrace || byte === openBracket) values += 1;
  }
  return values > limit;
}

/** The closing quote of the string that opens at `from`. */
function endOfString(text: Buffer, from: number): number {
  for (let at = text.indexOf(quote!, from + 1); at >= 0; at = text.indexOf(quote!, at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
