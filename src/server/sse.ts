import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { streamSSE, type SSEMessage } from 'hono/streaming';
import { asLine } from '../base/common/json.ts';
import { isLanefoldError, type LanefoldError } from '../base/errors.ts';
import type { Principal } from '../base/access/principal.ts';
import { partyOf } from './access/limited-parties.ts';
import type { ApiEnv } from './env.ts';
import type { ByteBudget } from './byte-budget.ts';
import { every } from '../base/common/timer.ts';

/** A comment is sent after this much silence, because proxies close connections that are silent for a minute. */
const heartbeatMs = 15_000;
/** A message of more bytes counts against the budget of all streams. */
const largeBytes = 65_536;
/** A client that reads nothing for this long is disconnected. */
const stallMs = 30_000;
/** How long clients wait before they reconnect. */
const retryMs = 1_000;

/**
 * Responds with server-sent events. Pulls the next message only once the client has accepted the previous one, so a
 * slow client neither delays others nor accumulates data. Large messages of all streams share a budget: a stream ends
 * if its next message does not fit, and its client reconnects. Calls `abort` when the client disconnects. A message that is
 * text is sent as it is.
 */
export function sse(
  c: Context,
  messages: AsyncIterable<SSEMessage | string>,
  {
    abort,
    onError,
    budget,
    onBusy,
  }: {
    abort: () => void;
    onError: (error: unknown) => void;
    budget: ByteBudget;
    /** For clients that do not reconnect by themselves: the last message, if the next one does not fit the budget. */
    onBusy?: (error: LanefoldError) => SSEMessage;
  },
): Response {
  // Buffering in a proxy would defeat streaming.
  c.header('X-Accel-Buffering', 'no');
  const holding = budget.open(partyOf((c as Context<ApiEnv>).get('principal') as Principal | undefined));
  const response = streamSSE(c, async (stream) => {
    stream.onAbort(abort);
    let writing = true;
    let wroteAt = performance.now();
    let held = 0;
    const write = async (send: () => Promise<unknown>, bytes = 0) => {
      const taken = bytes > largeBytes ? bytes : 0;
      holding.take(taken);
      writing = true;
      try {
        await send();
      } finally {
        // the client has now taken the previous message
        holding.release(held);
        held = taken;
      }
      writing = false;
      wroteAt = performance.now();
    };
    const heartbeat = every(heartbeatMs / 4, () => {
      const silentMs = performance.now() - wroteAt;
      if (writing && silentMs >= stallMs) (c.env as Partial<HttpBindings> | undefined)?.incoming?.socket.destroy();
      if (!writing && silentMs >= heartbeatMs) void write(() => stream.write(': \n\n'));
    });
    try {
      if (!onBusy) await write(() => stream.write(`retry: ${retryMs}\n\n`));
      else writing = false;
      for await (const message of messages) {
        if (typeof message === 'string') await write(() => stream.write(message), message.length);
        else await write(() => stream.writeSSE(escaped(message)), String(message.data).length);
        if (stream.aborted) return;
      }
    } catch (error) {
      // The connection ends, and the client reconnects.
      if (!isLanefoldError(error, 'server_busy')) onError(error);
      else if (onBusy && !stream.aborted) await write(() => stream.writeSSE(escaped(onBusy(error))));
    } finally {
      holding.release();
      heartbeat.cancel();
      abort();
    }
  });
  response.headers.set('Cache-Control', 'no-cache, no-transform');
  return response;
}

/** The data of our messages is JSON. */
const escaped = (message: SSEMessage): SSEMessage => ({ ...message, data: asLine(String(message.data)) });
