import pTimeout from 'p-timeout';
import { uiMessageHeader } from '../ui-messages/answer.ts';
import type { UiChunk } from '../ui-messages/message.ts';

/** A comment is sent after this much silence, because proxies close connections that are silent for a minute. */
const heartbeatMs = 15_000;

/**
 * The UI message stream as a response. Takes the next chunk only once the client has taken the previous one; `abort`
 * ends the stream when the client leaves. An error breaks the response off, and the client resumes.
 */
export function sseResponse(chunks: AsyncGenerator<UiChunk>, abort: () => void): Response {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<UiChunk>> | undefined;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      next ??= chunks.next();
      const result = await orSilence(next);
      if (result === undefined) {
        controller.enqueue(encoder.encode(': \n\n'));
        return;
      }
      next = undefined;
      const data = result.done ? '[DONE]' : JSON.stringify(result.value);
      controller.enqueue(encoder.encode(`data: ${data}\n\n`));
      if (result.done) controller.close();
    },
    cancel: abort,
  });
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      // Buffering in a proxy would defeat streaming.
      'x-accel-buffering': 'no',
      [uiMessageHeader[0]]: uiMessageHeader[1],
    },
  });
}

const orSilence = <T>(next: Promise<T>): Promise<T | undefined> =>
  pTimeout(next, { milliseconds: heartbeatMs, message: false });
