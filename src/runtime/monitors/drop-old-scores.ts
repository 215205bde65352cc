import type { Database } from '../../postgres/pool.ts';
import { dropScores } from '../../store/monitor/run-scores.ts';

const batch = 1_000;
const mostBatches = 20;

/** Deletes scores of monitors that are older than this. */
export async function dropOldScores(db: Database, days: number): Promise<void> {
  for (let no = 0; no < mostBatches; no++) if ((await dropScores(db, days, batch)) < batch) return;
}
