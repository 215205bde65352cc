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
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    for (;;) {
      const end = rest.indexOf('\n\n');
      if (end < 0) break;
      const block = rest.slice(0, end);
      if (block.startsWith(':')) onComment();
      const message = parse(block);
      rest = rest.slice(end + 2);
      if (message) yield message;
    }
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
