import type { Context } from 'hono';
import type { LanefoldError } from '../base/errors.ts';
import { watchAccess } from './access/watch-access.ts';
import { partyOf } from './access/limited-parties.ts';
import { ByteBudget } from './byte-budget.ts';
import type { ApiEnv } from './env.ts';
import { onAbort } from '../base/common/timer.ts';

export interface StreamLimits {
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

/** The place of one response among the streams of a server. */
export interface LiveStream {
  /** Aborts when the client has left, the server closes, or the key no longer allows the stream. */
  signal: AbortSignal;
  /** Why the key no longer allows it. */
  refusal(): LanefoldError | undefined;
  /** Gives the place back; call it in any case. */
  end(): void;
}

/** The streams that a server has open. */
export class LiveStreams {
  readonly #places: ByteBudget;

  constructor(readonly limits: StreamLimits) {
    this.#places = new ByteBudget(limits.maxStreams, 'streams', (open) => `it serves ${open} streams`);
  }

  /** @throws LanefoldError `server_busy` */
  open(c: Context<ApiEnv>): LiveStream {
    const { keyRecheckMs, closing } = this.limits;
    const place = this.#places.open(partyOf(c.get('principal')));
    place.take(1);
    const left = new AbortController();
    let refusal: LanefoldError | undefined;
    const unwatch = watchAccess(c.var, keyRecheckMs, (why) => {
      refusal = why;
      end();
    });
    let unlisten = () => {};
    const end = () => {
      place.release();
      left.abort();
      unwatch();
      unlisten();
    };
    unlisten = onAbort(closing, end);
    return { signal: left.signal, refusal: () => refusal, end };
  }
}
