import type { Context } from 'hono';
import { streamSSE, type SSEMessage } from 'hono/streaming';

/** A comment is sent after this much silence, because proxies close connections that are silent for a minute. */
const heartbeatMs = 15_000;
/** How soon clients reconnect. */
const retryMs = 1_000;

/**
 * Responds with server-sent events. Pulls the next message only when the client has accepted the previous one, so a slow
 * client neither delays others nor accumulates data. Calls `abort` when the client disconnects.
 */
export function sse(
  c: Context,
  messages: AsyncIterable<SSEMessage>,
  { abort, onError }: { abort: () => void; onError: (error: unknown) => void },
): Response {
  // Buffering in a proxy would defeat streaming.
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
      // The connection ends, and the client reconnects.
      onError(error);
    } finally {
      clearInterval(heartbeat);
      abort();
    }
  });
  response.headers.set('Cache-Control', 'no-cache, no-transform');
  return response;
}
