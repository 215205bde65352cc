import type { Database } from '../../postgres/pool.ts';
import { releaseDelivery, settleDelivery, takeDelivery, type QueuedAttempt } from '../../store/webhook/deliveries.ts';
import { countAttempt } from '../../store/webhook/webhooks.ts';
import type { AttemptOutcome } from '../../webhooks/definition.ts';
import { retryMs } from '../../webhooks/retry.ts';
import { signedHeaders } from '../../webhooks/sign.ts';
import { send, type SendOptions } from './send.ts';

/** An endpoint is paused once it has failed this often, and for so many days, without a success in between. */
const pausedAfter = { failures: 20, days: 3 };
/** How long another worker waits beyond the time limit of an attempt before it makes the next one, in ms. */
const leaseGraceMs = 20_000;

/** An attempt that has ended. */
export interface EndedAttempt {
  webhookId: string;
  outcome: AttemptOutcome;
}

/**
 * Makes an attempt and records how it ended. Should this worker die in between, the receiver may have got the event, and
 * another attempt is made with the same `webhook-id`. Returns undefined if there was none to make.
 */
export async function deliver(
  db: Database,
  ref: QueuedAttempt,
  options: SendOptions & { stop: AbortSignal },
): Promise<EndedAttempt | undefined> {
  const taken = await takeDelivery(db, ref, options.timeoutMs + leaseGraceMs);
  if (!taken) return undefined;
  const { url, secrets, payload, nth, failures, tenant_id: tenant, webhook_id: webhookId } = taken;
  const body = JSON.stringify(payload);
  const end = await send(url, body, signedHeaders(ref.id, new Date(), body, secrets), options);
  if (!end) {
    await releaseDelivery(db, ref);
    return { webhookId, outcome: 'released' };
  }
  const { delivered, error } = end;
  const againMs = delivered ? undefined : retryMs(nth, Math.random());
  await settleDelivery(db, ref, end, againMs);
  if (!delivered || failures > 0)
    await countAttempt(db, tenant, webhookId, { delivered, gone: error?.code === 'gone', ...pausedAfter });
  return { webhookId, outcome: delivered ? 'delivered' : againMs === undefined ? 'failed' : 'retried' };
}
