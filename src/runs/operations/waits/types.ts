// Generated from declaration.ts beside it: run `npm run types:api`.

import type { RunStatus } from '../../../database/store/run/types.ts';
import type { Call } from '../../../database/store/run/types.ts';
import type { PendingWait } from '../../../database/store/wait/types.ts';
import type { RunRef } from '../../../database/store/run/run-ref.ts';
import type { JsonObject } from '../../../agent/context/message.ts';

export interface ResolvedWait {
  /** false: the wait had ended before, and nothing changed. */
  resolved: boolean;
  /** How the wait ended; `overridden`: by hand. */
  wait: 'resolved' | 'expired' | 'overridden' | 'abandoned';
  /** The status of the run: `suspended` while other calls wait. */
  status: RunStatus;
}

export interface SentEvent {
  event: string;
  /** The calls whose waits it ended. */
  resolved: {
    threadId: string;
    runId: string;
    /** Its name, for `runs.approve` and the like: round and index, such as `1.0`. */
    call: Call;
    /** Tool round of the run, from 1. */
    round: number;
    /** Position in the round, from 0. */
    index: number;
  }[];
  /** Whether it is kept for later waits. */
  kept: boolean;
}

export interface Events {
  /**
   * Sends an event: every call that waits for it gets the payload as its result. For a wait that two events reach
   * at once, the first one counts. Sending it again resolves only calls that wait by then.
   *
   * @throws LanefoldError `invalid_id`, `invalid_input`, `invalid_text`
   */
  send(
    event: string,
    payload?: unknown,
    options?: {
      /**
       * Keeps the event for so many ms, for calls that begin to wait for it later; a later event of the same name
       * replaces it. Default 0: only calls that wait now get it.
       */
      keepMs?: number;
      /** Who sends it, for the log. */
      by?: string;
    },
  ): Promise<SentEvent>;
  /**
   * A token with which anyone may send this event once or more: `POST /signed/events/<token>`, with the payload as
   * its JSON body. For links in mails and for callbacks of other systems.
   *
   * @throws LanefoldError `invalid_id`, `invalid_input`, `missing_token_secret`
   */
  token(
    event: string,
    options?: {
      /** After this, the token is refused; default: 30 days. */
      expiresMs?: number;
      /** How long the event is kept for calls that begin to wait later; default 0. */
      keepMs?: number;
      /**
       * The id of the API key on whose behalf the token is made: once the key is revoked or has expired, the token is
       * refused.
       */
      keyId?: string;
    },
  ): Promise<string>;
}

export interface Waits {
  /** Calls that wait for an event, a time or another run, oldest first. See `approvals.list` for the others. */
  list(options?: {
    /** The `nextAfter` of the previous page. */
    after?: string;
    /** Maximum number of items; default 50. */
    limit?: number;
    /** Only waits for this event. */
    event?: string;
    kind?: 'event' | 'time' | 'run';
    threadId?: string;
  }): Promise<{
    data: PendingWait[];
    /**
     * Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty
     * even if more follow.
     */
    nextAfter: string | null;
  }>;
  /**
   * Resolve a tool call that waits. Gives the call a result, or an error, instead of what it waits for. A run that
   * it waits for is cancelled. The run continues once none of its calls waits.
   *
   * @throws LanefoldError `run_not_found`, `tool_call_not_found`, `thread_erased`, `invalid_input`
   */
  resolve(
    run: RunRef,
    call: string,
    options?: {
      /** The result of the call: text or JSON; default null. */
      result?: unknown;
      /** Instead of a result: the call fails with this message, which the model reads. */
      error?: string;
      /** Who resolves it, for the log. */
      by?: string;
      /** Kept in the `refs` of the result’s message. */
      extraRefs?: JsonObject;
    },
  ): Promise<ResolvedWait>;
}
