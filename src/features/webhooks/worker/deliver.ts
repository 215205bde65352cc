import type { Clock } from '../../../base/common/timer.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { Attempt, EndedAttempt } from '../store/deliveries.ts';
import { countAttempt } from '../store/webhooks.ts';
import type { AttemptOutcome } from '../../../runs/telemetry/telemetry.ts';
import { retryMs } from '../definition/retry.ts';
import { signedHeaders } from '../definition/sign.ts';
import { send, type SendOptions } from './send.ts';

/** An endpoint is paused once it has failed this often, and for so many days, without a success in between. */
const pausedAfter = { failures: 20, days: 3 };

/** Makes an attempt. */
export async function deliver(attempt: Attempt, options: SendOptions, clock: Clock): Promise<EndedAttempt> {
  const { thread_id, id, attempt: no, url, body, secrets, nth } = attempt;
  const end = await send(url, body, signedHeaders(id, new Date(clock.now()), body, secrets), options);
  return {
    ...{ thread_id, id, attempt: no },
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
    ...{ delivered: end.delivered, gone: end.error?.code === 'gone' },
    ...pausedAfter,
  });
}
