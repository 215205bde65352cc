import { keyHeader, problemOf } from './client.ts';

export interface ServerEvent {
  id: string | undefined;
  event: string;
  data: Record<string, unknown>;
}

const retryMs = 1_000;

/**
 * Server-sent events by `fetch`, which can send the key, unlike `EventSource`. Reconnects after the last event
 * received, so that a lost connection neither repeats nor loses events; ends with `signal`, or when the server closes
 * the stream.
 */
export async function* serverEvents(
  path: string,
  after: number,
  signal: AbortSignal,
  onState: (connected: boolean) => void,
): AsyncGenerator<ServerEvent> {
  let last = after;
  while (!signal.aborted) {
    try {
      const response = await fetch(`${path}?format=sse&after=${last}`, { headers: keyHeader(), signal });
      if (response.status === 204) return;
      if (!response.ok) throw await problemOf(response);
      onState(true);
      for await (const event of messages(response.body!)) {
        if (event.id !== undefined) last = Number(event.id);
        yield event;
      }
    } catch {
      // the loop condition distinguishes an abort by the reader from a lost connection
    }
    onState(false);
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

async function* messages(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader() as ReadableStreamDefaultReader<string>;
  try {
    for (let rest = ''; ;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const event = toEvent(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function toEvent(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trimStart());
  }
  const data = fields.get('data');
  if (data === undefined) return undefined;
  return {
    id: fields.get('id'),
    event: fields.get('event') ?? 'message',
    data: JSON.parse(data) as ServerEvent['data'],
  };
}
