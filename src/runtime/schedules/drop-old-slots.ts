import type { Database } from '../../postgres/pool.ts';
import { dropSlots } from '../../store/schedule/slots.ts';

const batch = 1_000;
const mostBatches = 20;

/** Deletes settled slots that are older than this, as many as ten thousand schedules have in a minute. */
export async function dropOldSlots(db: Database, days: number): Promise<void> {
  for (let no = 0; no < mostBatches; no++) if ((await dropSlots(db, days, batch)) < batch) return;
}
