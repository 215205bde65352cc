import { until } from './until.ts';

export interface SseMessage {
  id?: string;
  event?: string;
  /** The parsed JSON of the data. */
  data: never;
}

export interface SseReader {
  status: number;
  headers: Headers;
  messages: SseMessage[];
  /** Everything received so far, unparsed. */
  raw(): string;
  ids(): number[];
  events(): string[];
  has(event: string): Promise<unknown>;
  /** Resolves when the server ends the stream. */
  ended: Promise<void>;
  /** Disconnects. */
  leave(): void;
}

/** Reads server-sent events in the background, following the standard. */
export async function readSse(url: string, headers: Record<string, string> = {}): Promise<SseReader> {
  const abort = new AbortController();
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  });
  const messages: SseMessage[] = [];
  let raw = '';
  const ended = (async () => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      const text = decoder.decode(bytes as Uint8Array, { stream: true });
      raw += text;
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const fields = block.split('\n').map((line) => /^(\w*):\s?(.*)$/.exec(line)?.slice(1) ?? ['', '']);
        const field = (name: string) => fields.find(([key]) => key === name)?.[1];
        const data = field('data');
        if (data === undefined) continue;
        const [id, event] = [field('id'), field('event')];
        messages.push({
          ...(id === undefined ? {} : { id }),
          ...(event === undefined ? {} : { event }),
          data: (data === '[DONE]' ? data : JSON.parse(data)) as never,
        });
      }
    }
  })();
  ended.catch(() => {});
  const events = () => messages.map((message) => message.event ?? '');
  return {
    status: response.status,
    headers: response.headers,
    messages,
    raw: () => raw,
    ids: () => messages.flatMap((message) => (message.id === undefined ? [] : [Number(message.id)])),
    events,
    has: (event) => until(`${event} arrives`, () => events().includes(event)),
    ended,
    leave: () => abort.abort(),
  };
}
