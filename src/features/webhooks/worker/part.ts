import { eventsNoted, type DeliveryNotices } from '../../../database/store/call-function.ts';
import type { StartPart } from '../../../worker/part.ts';
import { Dispatcher } from './dispatcher.ts';
import { giveUpOldDeliveries } from './deliver.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { dropDeliveries } from '../store/deliveries.ts';
import { forgetWebhook, readRemoved } from '../store/webhooks.ts';

interface DeliveryOptions {
  /** Webhooks may have `http:` URLs and private addresses. */
  anywhere: boolean;
  /** How long a receiver may take to answer, in ms. */
  timeoutMs: number;
  /** Notified when a commit of this process makes deliveries due. */
  notices: DeliveryNotices | undefined;
}

/** Delivers events to webhooks. */
export const webhooksPart =
  ({ anywhere, timeoutMs, notices }: DeliveryOptions): StartPart =>
  ({ db, privatePrefix, retentionDays, telemetry, onError }) => {
    const cleanup = [
      { everyMs: 60_000, work: () => giveUpOldDeliveries(db) },
      { everyMs: 600_000, work: () => dropOldDeliveries(db, retentionDays) },
    ];
    // shared workers deliver
    if (privatePrefix !== null) return { sweeps: cleanup };
    const onAttempt: typeof telemetry.attemptEnded = (outcome) => telemetry.attemptEnded?.(outcome);
    const dispatcher = new Dispatcher({ db, onError, send: { anywhere, timeoutMs }, onAttempt });
    const lookAtEvents = () => void dispatcher.lookAtEvents();
    notices?.dispatchers.add(lookAtEvents);
    return {
      channels: { lanefold_webhooks: (payload) => void (payload === eventsNoted ? lookAtEvents() : dispatcher.look()) },
      sweeps: [{ work: () => dispatcher.look(true) }, ...cleanup],
      isBusy: () => dispatcher.isBusy,
      close() {
        notices?.dispatchers.delete(lookAtEvents);
        return dispatcher.close();
      },
    };
  };

const batch = 1_000;
const mostBatches = 20;

/** Deletes settled deliveries that are older than this, and all of removed endpoints. With 0 `days`, only the latter. */
export async function dropOldDeliveries(db: Database, days: number): Promise<void> {
  for (const { tenantId, id } of await readRemoved(db))
    if (await dropAll(db, { webhookId: id })) await forgetWebhook(db, tenantId, id);
  if (days > 0) await dropAll(db, { days });
}

/** Returns whether nothing is left. */
async function dropAll(db: Database, which: { days: number } | { webhookId: string }): Promise<boolean> {
  for (let no = 0; no < mostBatches; no++) if ((await dropDeliveries(db, which, batch)) < batch) return true;
  return false;
}
