const [quote, backslash, comma, openBrace, closeBrace, openBracket, closeBracket] = Buffer.from('"\\,{}[]');

/**
 * Counts the values and the depth of a JSON text without parsing it, because parsing a few megabytes of keys blocks the
 * event loop for seconds. Stops at the first exceeded limit. For text that is not JSON, the counts mean nothing.
 */
export function exceeds(text: Buffer, limits: { values: number; depth: number }): 'values' | 'depth' | undefined {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case quote:
        at = endOfString(text, at);
        break;
      case openBrace:
      case openBracket:
        depth += 1;
        values += 1;
        if (depth > limits.depth) return 'depth';
        break;
      case closeBrace:
      case closeBracket:
        depth -= 1;
        break;
      case comma:
        values += 1;
        break;
    }
    if (values > limits.values) return 'values';
  }
  return undefined;
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
