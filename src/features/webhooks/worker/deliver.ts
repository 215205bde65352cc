import type { Clock } from '../../../base/common/timer.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { giveUpDeliveries, type Attempt, type EndedAttempt } from '../store/deliveries.ts';
import { countAttempt, countDropped, readBlocked } from '../store/webhooks.ts';
import type { AttemptOutcome } from '../../../runs/telemetry/telemetry.ts';
import { retryMs, signedHeaders, send, type SendOptions } from './send.ts';
import type { ChosenEvent, FoundAttempt, OpenEndpoint, WaitingEvent } from '../store/due-deliveries.ts';

/** An endpoint is paused once it has failed this often, and for so many days, without a success in between. */
const pausedAfter = { failures: 20, days: 3 };

/** Makes an attempt. */
export async function deliver(attempt: Attempt, options: SendOptions, clock: Clock): Promise<EndedAttempt> {
  const { thread_id, id, attempt: no, url, body, secrets, nth } = attempt;
  const end = await send(url, body, signedHeaders(id, new Date(clock.now()), body, secrets), options);
  return {
    thread_id,
    id,
    attempt: no,
    ...(end ? { end, retryMs: end.delivered ? undefined : again(nth, end.retryAfterMs) } : {}),
  };
}

/** The receiver may ask for a longer pause, but not for more attempts. */
function again(nth: number, retryAfterMs = 0): number | undefined {
  const pauseMs = retryMs(nth, Math.random());
  return pauseMs === undefined ? undefined : Math.max(pauseMs, retryAfterMs);
}

export const outcomeOf = ({ end, retryMs: againMs }: EndedAttempt): AttemptOutcome => {
  if (!end) return 'released';
  if (end.delivered) return 'delivered';
  return againMs === undefined ? 'failed' : 'retried';
};

/** Counts attempts of endpoints that fail, and the first success after failures. */
export async function countEnd(db: Database, attempt: Attempt, { end }: EndedAttempt): Promise<void> {
  if (!end || (end.delivered && attempt.failures === 0)) return;
  await countAttempt(db, attempt.tenant_id, attempt.webhook_id, {
    delivered: end.delivered,
    gone: end.error?.code === 'gone',
    ...pausedAfter,
  });
}

/** What a worker begins. */
export interface Chosen {
  due: FoundAttempt[];
  events: ChosenEvent[];
  /** Whether more is due than it can begin now. */
  moreDue: boolean;
  moreEvents: boolean;
  /** Endpoints for which more may be due than may be in flight. */
  behind: string[];
}

/**
 * Chooses which attempts begin: due ones take at most half of the slots as long as events want the rest, so that neither
 * keeps the other waiting. Of an endpoint, what is due goes first. An event is chosen with all its endpoints, and may thus
 * take more slots than there are.
 */
export function chooseAttempts(
  endpoints: readonly OpenEndpoint[],
  events: readonly WaitingEvent[],
  slots: number,
): Chosen {
  const free = new Map(
    endpoints.filter(({ failing }) => !failing).map(({ id, free: own, due }) => [id, own - due.length]),
  );
  const due = endpoints
    .flatMap(({ failing, due: own }) => own.map((one) => ({ ...one, failing })))
    .sort((a, b) => Number(a.failing) - Number(b.failing) || a.since - b.since);
  const first = Math.min(due.length, Math.ceil(slots / 2));
  const chosen: ChosenEvent[] = [];
  const behind = new Set(endpoints.filter(({ free: own, due: some }) => some.length === own).map(({ id }) => id));
  let left = slots - first;
  for (const event of events) {
    if (left <= 0) break;
    const begin = event.webhook_ids.filter((id) => (free.get(id) ?? 0) > 0);
    for (const id of begin) free.set(id, free.get(id)! - 1);
    for (const id of event.webhook_ids) if (free.get(id) === 0) behind.add(id);
    chosen.push({ ...event, begin });
    left -= begin.length;
  }
  const taken = first + Math.max(0, Math.min(left, due.length - first));
  return {
    due: due.slice(0, taken).map(({ thread_id, id, attempt, failing }) => ({ thread_id, id, attempt, failing })),
    events: chosen,
    moreDue: taken < due.length,
    moreEvents: chosen.length < events.length,
    behind: [...behind],
  };
}

/** How many deliveries may wait for an endpoint that is paused, or has failed for long. */
export const mostWaiting = 10_000;
/** What has failed for less may be about to recover, and then gets a backlog of any size, in ms. */
const failingMs = 3_600_000;
const batch = 1_000;
const mostBatches = 20;

/** Gives up the oldest deliveries of endpoints for which too many wait, and counts them. */
export async function giveUpOldDeliveries(db: Database, keep = mostWaiting): Promise<void> {
  for (const { tenantId, id } of await readBlocked(db, failingMs))
    for (let no = 0; no < mostBatches; no++) {
      const { tooMany, dropped } = await giveUpDeliveries(db, id, keep, batch);
      if (dropped > 0) await countDropped(db, tenantId, id, dropped);
      if (tooMany < batch) break;
    }
}
