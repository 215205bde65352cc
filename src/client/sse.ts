/** A server-sent event. */
export interface SseMessage {
  event: string;
  data: string;
}

/**
 * Reads server-sent events. A message counts once its blank line has arrived: half of one is dropped.
 *
 * @param onComment called for each comment, by which a server shows that the connection works
 */
export async function* readSse(
  chunks: AsyncIterable<Uint8Array>,
  onComment: () => void,
): AsyncGenerator<SseMessage, void, void> {
  const decoder = new TextDecoder();
  // what came of a block; each chunk is searched once, however many a block takes
  let pieces: string[] = [];
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    // the blank line may be cut in two
    const cut = text.startsWith('\n') && pieces.at(-1)?.endsWith('\n');
    let from = 0;
    for (let end = cut ? 0 : text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n', from)) {
      const block = pieces.join('') + text.slice(from, end);
      pieces = [];
      from = end + (end === 0 && cut ? 1 : 2);
      if (block.startsWith(':')) onComment();
      const message = parse(block);
      if (message) yield message;
    }
    if (from < text.length) pieces.push(text.slice(from));
  }
}

/** A block of lines as a message; undefined for comments and `retry`. */
function parse(block: string): SseMessage | undefined {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (line.startsWith('event:')) event = value;
    else if (line.startsWith('data:')) data.push(value);
  }
  return data.length > 0 ? { event, data: data.join('\n') } : undefined;
}
