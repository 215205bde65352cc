import type { SSEMessage } from 'hono/streaming';
import type { LanefoldError } from '../base/errors.ts';
import type { StreamItem } from '../runs/streams/stream.ts';
import { toUiChunks } from '../runs/formats/ui-messages/answer.ts';

/**
 * Converts the stream of one run, with its entries, to the server-sent events of the AI SDK's UI message stream.
 * `refusal`: why the stream ended early, if it did.
 */
export async function* toUiEvents(
  items: AsyncIterable<StreamItem>,
  run: { threadId: string; runId: string },
  refusal: () => LanefoldError | undefined,
): AsyncGenerator<SSEMessage> {
  for await (const chunk of toUiChunks(items, run)) yield { data: JSON.stringify(chunk) };
  const why = refusal();
  if (why) yield { data: JSON.stringify({ type: 'error', errorText: why.message }) };
  yield { data: '[DONE]' };
}
