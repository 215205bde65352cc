import type { SSEMessage } from 'hono/streaming';
import type { StreamItem } from '../streams/stream-item.ts';
import { toJson } from './json.ts';

/**
 * A stream as server-sent events, named by what they are. Only events of the trace have an id: it is their `event_seq`,
 * and where a client that connects again goes on.
 */
export async function* toEventMessages(items: AsyncIterable<StreamItem>): AsyncGenerator<SSEMessage> {
  for await (const item of items) {
    if (item.type === 'event') {
      const { event } = item;
      yield { event: event.kind, id: String(event.eventSeq), data: JSON.stringify(toJson(event)) };
    } else {
      const { type, ...rest } = item;
      yield { event: type, data: JSON.stringify(toJson(rest)) };
    }
  }
}
