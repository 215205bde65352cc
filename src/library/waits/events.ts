import pLimit from 'p-limit';
import { assertId, defaultTenant } from '../../checks/ids.ts';
import { assertStorable } from '../../checks/text.ts';
import { assertWhole } from '../../checks/whole-number.ts';
import { omitUndefined } from '../../common/omit-undefined.ts';
import type { Database } from '../../postgres/pool.ts';
import { briefly, dispatchFirst } from '../../queue/dispatch.ts';
import type { RunQueue } from '../../queue/queue.ts';
import type { QueuedRun } from '../../store/run/queued-run.ts';
import { endWait } from '../../store/wait/end-wait.ts';
import { findEventWaits, keepEvent, type EventWait } from '../../store/wait/events.ts';
import { signEvent } from '../../tokens/event-token.ts';
import { signingSecret } from '../../tokens/secrets.ts';
import { contentOf } from './payload.ts';

export interface SendOptions {
  /**
   * Keeps the event for so many ms, for calls that begin to wait for it later; a later event of the same name replaces
   * it. Default 0: only calls that wait now get it.
   */
  keepMs?: number;
  /** Who sends it, for the log. */
  by?: string;
}

export interface SentEvent {
  event: string;
  /** The calls whose waits it ended. */
  released: { threadId: string; runId: string; round: number; index: number }[];
  /** Whether it is kept for later waits. */
  kept: boolean;
}

export interface Events {
  /**
   * Sends an event: every call that waits for it gets the payload as its result. For a wait that two events reach at
   * once, the first one counts. Sending it again releases only calls that wait by then.
   *
   * @param payload text or JSON, at most 262,144 bytes; default null
   * @throws LanefoldError `invalid_id`, `invalid_input`, `invalid_text`
   */
  send(event: string, payload?: unknown, options?: SendOptions): Promise<SentEvent>;
  /**
   * A token with which anybody may send this event once or more: `POST /signed/events/<token>`, with the payload as its
   * JSON body. For links in mails and for callbacks of other systems.
   *
   * @throws LanefoldError `invalid_id`, `invalid_input`, `missing_token_secret`
   */
  token(event: string, options?: { expiresMs?: number }): Promise<string>;
}

/** How many waits are read at a time, and ended at once. */
const batch = 200;
const atOnce = 4;
const longestKeepMs = 31_536_000_000;

export function eventsOf({
  db,
  queue,
  secrets,
}: {
  db: Database;
  queue: RunQueue;
  secrets: readonly string[];
}): Events {
  return {
    async send(event, payload, { keepMs = 0, by } = {}) {
      assertId(event, 'The event');
      assertWhole(keepMs, 'keepMs', {
        maximum: longestKeepMs,
        hint: 'Omit it if only calls that wait now are to get it.',
      });
      assertStorable(by, 'The sender');
      const content = contentOf(payload, 'The payload');
      // first, so that a wait is either found below or finds the kept event
      if (keepMs > 0) await keepEvent(db, { event, content, keepMs, by });
      const released: EventWait[] = [];
      const jobs: QueuedRun[] = [];
      const limit = pLimit(atOnce);
      for (;;) {
        const waits = await findEventWaits(db, event, batch);
        await limit.map(waits, async (wait) => {
          const end = {
            status: 'resolved' as const,
            outcome: { status: 'ok' as const, content },
            queuePrefix: queue.prefix,
          };
          const { ended, job } = await endWait(db, wait, wait.call, { ...end, ...omitUndefined({ by }) });
          if (ended) released.push(wait);
          if (job) jobs.push(job);
        });
        if (waits.length < batch) break;
      }
      await briefly(dispatchFirst(db, queue, jobs), jobs.length);
      return {
        event,
        released: released.map(({ threadId, runId, call }) => ({ threadId, runId, ...call })),
        kept: keepMs > 0,
      };
    },
    async token(event, { expiresMs } = {}) {
      assertId(event, 'The event');
      assertWhole(expiresMs, 'expiresMs', { minimum: 1, hint: 'Omit it for a token that does not expire.' });
      const expiresAtMs = expiresMs === undefined ? null : Date.now() + expiresMs;
      return signEvent({ tenant: db.tenant ?? defaultTenant, event, expiresAtMs }, signingSecret(secrets));
    },
  };
}
