import type { Database } from '../../postgres/pool.ts';
import { dropTraces } from '../../store/trace/drop-traces.ts';

const batch = 100;
const pauseMs = 600_000;

/** Empties old traces: one batch per call while there are any, then one look every ten minutes. 0 `days` keeps them all. */
export function traceRetention(db: Database, days: number): () => Promise<void> {
  let nextAt = 0;
  return async () => {
    if (days === 0 || performance.now() < nextAt) return;
    if ((await dropTraces(db, days, batch)).due === 0) nextAt = performance.now() + pauseMs;
  };
}
