import type { Context } from 'hono';
import { streamSSE, type SSEMessage } from 'hono/streaming';

/** After how long a silence a comment says that the stream is alive; proxies close what is silent for a minute. */
const heartbeatMs = 15_000;
/** How soon a client connects again. */
const retryMs = 1_000;

/**
 * Answers with server-sent events. What follows is asked for only when the client has taken what came before, so a
 * client that does not read holds up nobody and gathers nothing. `abort` is called when the client leaves.
 */
export function sse(
  c: Context,
  messages: AsyncIterable<SSEMessage>,
  { abort, onError }: { abort: () => void; onError: (error: unknown) => void },
): Response {
  // a proxy that gathers the answer would undo the stream
  c.header('X-Accel-Buffering', 'no');
  const response = streamSSE(c, async (stream) => {
    stream.onAbort(abort);
    let writing = true;
    let wroteAt = 0;
    const write = async (send: () => Promise<unknown>) => {
      writing = true;
      await send();
      writing = false;
      wroteAt = performance.now();
    };
    const heartbeat = setInterval(() => {
      if (!writing && performance.now() - wroteAt >= heartbeatMs) void write(() => stream.write(': \n\n'));
    }, heartbeatMs / 4);
    try {
      await write(() => stream.write(`retry: ${retryMs}\n\n`));
      for await (const message of messages) {
        await write(() => stream.writeSSE(message));
        if (stream.aborted) return;
      }
    } catch (error) {
      // the client sees the connection end, and connects again
      onError(error);
    } finally {
      clearInterval(heartbeat);
      abort();
    }
  });
  response.headers.set('Cache-Control', 'no-cache, no-transform');
  return response;
}
