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
