import { asLine } from './json.ts';
import { orLate } from './timer.ts';

/** A comment is sent after this much silence, because proxies close connections that are silent for a minute. */
const heartbeatMs = 15_000;

/**
 * Server-sent events as a response, each with one line of JSON. Takes the next one only once the client has taken the
 * previous one; `abort` ends them when the client leaves. An error breaks the response off.
 */
export function sseResponse(
  data: AsyncGenerator<string>,
  { abort, headers = {} }: { abort: () => void; headers?: Record<string, string> },
): Response {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<string>> | undefined;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      next ??= data.next();
      const result = await orSilence(next);
      if (result === undefined) {
        controller.enqueue(encoder.encode(': \n\n'));
        return;
      }
      next = undefined;
      if (result.done) controller.close();
      else controller.enqueue(encoder.encode(`data: ${asLine(result.value)}\n\n`));
    },
    cancel: abort,
  });
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      // Buffering in a proxy would defeat streaming.
      'x-accel-buffering': 'no',
      ...headers,
    },
  });
}

const orSilence = <T>(next: Promise<T>): Promise<T | undefined> => orLate(heartbeatMs, next, () => undefined);
