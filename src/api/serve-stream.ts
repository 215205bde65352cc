import type { Context } from 'hono';
import type { SSEMessage } from 'hono/streaming';
import type { LanefoldError } from '../errors.ts';
import { watchAccess } from './access/watch-access.ts';
import { serverBusy, type ByteBudget } from './byte-budget.ts';
import type { ApiEnv } from './env.ts';
import { sse } from './sse.ts';

export interface StreamingOptions {
  /** Concurrent streams. */
  maxStreams: number;
  /** Budget for large messages that clients have not taken yet. */
  budget: ByteBudget;
  onError: (error: unknown, request: { method: string; path: string }) => void;
  /** How often a stream's key is looked up again. */
  keyRecheckMs: number;
  /** Ends all streams. */
  closing?: AbortSignal;
}

/** A stream that a route has opened. */
export interface Opened {
  /** Everything was delivered before: do not reconnect. */
  over: boolean;
  /** `refusal`: why the stream ended early, if it did. */
  messages(refusal: () => LanefoldError | undefined): AsyncIterable<SSEMessage>;
}

/** Opens a stream and answers a request with it, until `signal` ends it. */
export type ServeStream = (c: Context<ApiEnv>, open: (signal: AbortSignal) => Promise<Opened>) => Promise<Response>;

/** The streams of a server, of which it serves a limited number. A stream ends once its key no longer allows it. */
export function streamServer(options: StreamingOptions): ServeStream {
  let streams = 0;
  return async (c, open) => {
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'Content-Type': 'text/event-stream' });
    if (streams >= options.maxStreams) throw serverBusy(`it serves ${streams} streams`);
    streams += 1;
    const left = new AbortController();
    let refusal: LanefoldError | undefined;
    const unwatch = watchAccess(c.var, options.keyRecheckMs, (why) => {
      refusal = why;
      end();
    });
    const end = () => {
      if (!left.signal.aborted) streams -= 1;
      left.abort();
      unwatch();
      options.closing?.removeEventListener('abort', end);
    };
    const opening = open(left.signal);
    opening.catch(end);
    const { over, messages } = await opening;
    if (over) {
      end();
      return c.body(null, 204);
    }
    options.closing?.addEventListener('abort', end);
    return sse(
      c,
      messages(() => refusal),
      {
        abort: end,
        budget: options.budget,
        onError: (error) => options.onError(error, { method: c.req.method, path: c.req.path }),
      },
    );
  };
}
