import type { Database } from '../../database/postgres/pool.ts';
import { dropKeptEvents } from '../../database/store/wait/events.ts';

const batch = 1_000;
const mostBatches = 20;

/** Deletes events that are kept no longer: keeping another one deletes only a few, and of one tenant. */
export async function dropOldEvents(db: Database): Promise<void> {
  for (let no = 0; no < mostBatches; no++) if ((await dropKeptEvents(db, batch)) < batch) return;
}
