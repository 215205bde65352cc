import { fromWire } from './case.ts';
import type { Id, JsonObject, RunEvent } from './operations.ts';

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

/** What a stream yields, in order. */
export type StreamItem =
  /** With the `wait` option, the first item: the thread or run exists. */
  | { type: 'exists'; threadId: Id; runId?: Id }
  /** An event of the trace; with the `entries` option, also the payload of the entry it is about. */
  | { type: 'event'; event: RunEvent; entry?: JsonObject }
  /** More of an answer: `text` or `thinking` that begins at `offset` (as `string.length` counts). */
  | { type: 'llm_delta'; runId: Id; llmCallId: Id; offset: number; text: string }
  | { type: 'llm_delta'; runId: Id; llmCallId: Id; offset: number; thinking: string }
  /** The whole answer so far; it replaces every earlier delta of that call. */
  | { type: 'llm_snapshot'; runId: Id; llmCallId: Id; text: string; thinking: string }
  /** Nothing has happened for a few seconds and no worker can take the run. The stream continues. */
  | { type: 'unattended'; threadId: Id; runId: Id; agent: string; reason: string; message: string };

export interface StreamOptions {
  /** Only events after this `eventSeq`. Default: from the beginning. */
  after?: number;
  /** Include answers while they are written; default true. */
  deltas?: boolean;
  /** Include the payload of the entry that an event is about; default false. */
  entries?: boolean;
  /** If the thread or run does not exist yet, wait for it instead of rejecting; default false. */
  wait?: boolean;
  /** The stream rejects with its reason. */
  signal?: AbortSignal;
}

/** The item that a message stands for. */
export function toItem({ event: type, data }: SseMessage): StreamItem {
  const fields = fromWire(JSON.parse(data)) as Record<string, unknown>;
  if (fields['eventSeq'] === undefined) return { type, ...fields } as StreamItem;
  const { entry, ...event } = fields;
  return { type: 'event', event, ...(entry === undefined ? {} : { entry }) } as unknown as StreamItem;
}
