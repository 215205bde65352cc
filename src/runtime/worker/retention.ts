import type { Database } from '../../postgres/pool.ts';

const batch = 100;
const pauseMs = 600_000;

/**
 * Empties old traces: a batch at each call while there are some, then one look every ten minutes. `days` of 0 keeps
 * them for ever.
 */
export function traceRetention(db: Database, days: number): () => Promise<void> {
  let nextAt = 0;
  return async () => {
    if (days === 0 || performance.now() < nextAt) return;
    const [row] = await db.query<{ runs: number }>('drop_traces', 'select lanefold.drop_traces($1, $2) as runs', [
      days,
      batch,
    ]);
    if (row!.runs === 0) nextAt = performance.now() + pauseMs;
  };
}
