import type { Database } from '../../postgres/pool.ts';
import { dropDeliveries } from '../../store/webhook/drop-deliveries.ts';
import { forgetWebhook, readRemoved } from '../../store/webhook/webhooks.ts';

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
