import type { Database } from '../../postgres/pool.ts';
import { releaseDelivery, settleDelivery, takeDelivery, type QueuedAttempt } from '../../store/webhook/deliveries.ts';
import { countAttempt } from '../../store/webhook/webhooks.ts';
import { retryMs } from '../../webhooks/retry.ts';
import { signedHeaders } from '../../webhooks/sign.ts';
import { send, type SendOptions } from './send.ts';

/** An endpoint is paused once it has failed this often, and for so many days, without a success in between. */
const pausedAfter = { failures: 20, days: 3 };
/** How long another worker waits beyond the time limit of an attempt before it makes the next one, in ms. */
const leaseGraceMs = 20_000;

/** An attempt that has ended. */
export interface Delivered {
  webhookId: string;
}

/**
 * Makes an attempt and records how it ended. Should this worker die in between, the receiver may have got the event, and
 * another attempt is made with the same `webhook-id`. Returns undefined if there was none to make, or `stop` ended it.
 */
export async function deliver(
  db: Database,
  ref: QueuedAttempt,
  options: SendOptions & { stop: AbortSignal },
): Promise<Delivered | undefined> {
  const taken = await takeDelivery(db, ref, options.timeoutMs + leaseGraceMs);
  if (!taken) return undefined;
  const { url, secrets, payload, nth, failures, tenant_id: tenant, webhook_id: webhookId } = taken;
  const body = JSON.stringify(payload);
  const end = await send(url, body, signedHeaders(ref.id, new Date(), body, secrets), options);
  if (!end) {
    await releaseDelivery(db, ref);
    return undefined;
  }
  const { delivered, error } = end;
  await settleDelivery(db, ref, end, delivered ? undefined : retryMs(nth, Math.random()));
  if (!delivered || failures > 0)
    await countAttempt(db, tenant, webhookId, { delivered, gone: error?.code === 'gone', ...pausedAfter });
  return { webhookId };
}
