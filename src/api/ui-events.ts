import type { SSEMessage } from 'hono/streaming';
import type { StreamItem } from '../streams/stream-item.ts';
import { toUiChunks } from '../ui-messages/answer.ts';

/** Converts the stream of one run, with its entries, to the server-sent events of the AI SDK's UI message stream. */
export async function* toUiEvents(
  items: AsyncIterable<StreamItem>,
  run: { threadId: string; runId: string },
): AsyncGenerator<SSEMessage> {
  for await (const chunk of toUiChunks(items, run)) yield { data: JSON.stringify(chunk) };
  yield { data: '[DONE]' };
}
