import type { SSEMessage } from 'hono/streaming';
import type { StreamItem } from '../streams/stream-item.ts';
import type { LanefoldError } from '../errors.ts';
import { toJson } from './json.ts';
import { toProblem } from './problem.ts';

/**
 * Converts a stream to server-sent events named by their kind. Only trace events have an id, their `event_seq`, because
 * a reconnecting client resumes after the last id. `refusal`: why the stream ended early, if it did.
 */
export async function* toEventMessages(
  items: AsyncIterable<StreamItem>,
  refusal: () => LanefoldError | undefined,
): AsyncGenerator<SSEMessage> {
  for await (const item of items) {
    if (item.type === 'event') {
      const { event, entry } = item;
      const data = { ...toJson(event), ...(entry ? { entry } : {}) };
      yield { event: event.kind, id: String(event.eventSeq), data: JSON.stringify(data) };
    } else {
      const { type, ...rest } = item;
      yield { event: type, data: JSON.stringify(toJson(rest)) };
    }
  }
  const why = refusal();
  if (why) yield { event: 'problem', data: JSON.stringify(toProblem(why)) };
}
