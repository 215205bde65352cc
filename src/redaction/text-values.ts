/*
 * Finds the end of a secret's value in text that is not JSON. Written by hand, because a regular expression that
 * repeats over megabytes overflows the engine's stack.
 */

const plainEnd = new Set([...' \t\r\n\v\f"\'\\,;&}])']);

/** Where the value that starts at `from` ends; `from` itself if there is none. */
export function endOfValue(text: string, from: number): number {
  const first = text[from];
  // Only a parser could tell where a nested value ends.
  if (first === '{' || first === '[') return text.startsWith('[REDACTED]', from) ? from : endOfLine(text, from);
  if (text.startsWith('\\"', from)) return endAfter(text, text.indexOf('\\"', from + 2), 2, from);
  if (first === '"' || first === "'") return endAfter(text, closingQuote(text, from, first), 1, from);
  const scheme = /(?:bearer|basic)[ \t]{1,8}/iy;
  scheme.lastIndex = from;
  let at = scheme.test(text) ? scheme.lastIndex : from;
  while (at < text.length && !plainEnd.has(text[at]!)) at += 1;
  return at;
}

/** The index after a closing quote; without one, the rest of the line counts as the value. */
const endAfter = (text: string, close: number, length: number, from: number): number =>
  close < 0 ? endOfLine(text, from) : close + length;

function endOfLine(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at += 1;
  return at;
}

function closingQuote(text: string, open: number, quote: string): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
}
