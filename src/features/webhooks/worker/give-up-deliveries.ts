import type { Database } from '../../../database/postgres/pool.ts';
import { giveUpDeliveries } from '../store/drop-deliveries.ts';
import { countDropped, readBlocked } from '../store/webhooks.ts';

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
