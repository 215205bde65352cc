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
  let event = 'message';
  let data: string[] = [];
  // the line that has not ended: not searched again with each chunk
  let begun = '';
  for await (const chunk of chunks) {
    const lines = decoder.decode(chunk, { stream: true }).split('\n');
    lines[0] = begun + lines[0]!;
    begun = lines.pop()!;
    for (const line of lines) {
      const value = line.slice(line.indexOf(':') + 1).replace(/^ /, '');
      if (line.startsWith(':')) onComment();
      else if (line.startsWith('event:')) event = value;
      else if (line.startsWith('data:')) data.push(value);
      else if (line === '') {
        if (data.length > 0) yield { event, data: data.join('\n') };
        event = 'message';
        data = [];
      }
    }
  }
}
