import type { Context } from 'hono';
import type { SSEMessage } from 'hono/streaming';
import type { LanefoldError } from '../base/errors.ts';
import type { ApiEnv } from './env.ts';
import type { LiveStreams } from './live-streams.ts';
import { sse } from './sse.ts';

/** A stream that a route has opened. */
export interface Opened {
  /** Everything was delivered before: do not reconnect. */
  over: boolean;
  /** `refusal`: why the stream ended early, if it did. */
  messages(refusal: () => LanefoldError | undefined): AsyncIterable<SSEMessage>;
}

/** Opens a stream and answers a request with it, until `signal` ends it. */
export type ServeStream = (c: Context<ApiEnv>, open: (signal: AbortSignal) => Promise<Opened>) => Promise<Response>;

/** Answers requests with streams that a client may reconnect to. */
export const streamServer =
  (streams: LiveStreams): ServeStream =>
  async (c, open) => {
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'Content-Type': 'text/event-stream' });
    const live = streams.open(c);
    const opening = open(live.signal);
    opening.catch(live.end);
    const { over, messages } = await opening;
    if (over) {
      live.end();
      return c.body(null, 204);
    }
    const { budget, onError } = streams.limits;
    return sse(c, messages(live.refusal), {
      abort: live.end,
      budget,
      onError: (error) => onError(error, { method: c.req.method, path: c.req.path }),
    });
  };
