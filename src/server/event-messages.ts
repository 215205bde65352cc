import type { SSEMessage } from 'hono/streaming';
import type { JsonObject } from '../agent/context/message.ts';
import type { StreamItem } from '../runs/streams/stream.ts';
import type { TreeStreamItem } from '../runs/streams/tree.ts';
import type { LanefoldError } from '../base/errors.ts';
import { toJson } from './json.ts';
import { toProblem } from './problem.ts';

type Refusal = () => LanefoldError | undefined;

/**
 * Converts a stream to server-sent events named by their kind. Only trace events have an id, their `event_seq`, because
 * a reconnecting client resumes after the last id. `refusal`: why the stream ended early, if it did.
 */
export async function* toEventMessages(items: AsyncIterable<StreamItem>, refusal: Refusal): AsyncGenerator<SSEMessage> {
  for await (const item of items)
    yield toMessage(item, item.type === 'event' ? String(item.event.eventSeq) : undefined);
  yield* ended(refusal);
}

/** As `toEventMessages`, with the run of each message; the id of an event is the cursor of the whole stream. */
export async function* toTreeMessages(
  items: AsyncIterable<TreeStreamItem>,
  refusal: Refusal,
): AsyncGenerator<SSEMessage> {
  for await (const { item, run, cursor } of items)
    yield toMessage(item, cursor, { thread_id: run.threadId, run_id: run.id });
  yield* ended(refusal);
}

function toMessage(item: StreamItem, id: string | undefined, more: JsonObject = {}): SSEMessage {
  if (item.type !== 'event') {
    const { type, ...rest } = item;
    return { event: type, data: JSON.stringify({ ...toJson(rest), ...more }) };
  }
  const { event, entry } = item;
  const data = { ...toJson(event), ...more, ...(entry ? { entry } : {}) };
  return { event: event.kind, ...(id === undefined ? {} : { id }), data: JSON.stringify(data) };
}

function* ended(refusal: Refusal): Generator<SSEMessage> {
  const why = refusal();
  if (why) yield { event: 'problem', data: JSON.stringify(toProblem(why)) };
}
