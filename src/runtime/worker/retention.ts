import type { Database } from '../../postgres/pool.ts';
import { dropTraces } from '../../store/trace/drop-traces.ts';

const batch = 500;
const pauseMs = 600_000;

/**
 * Empties old traces: each call works for about `busyMs` while there are any, and then checks only every ten minutes.
 * With 0 `days`, all traces are kept.
 */
export function traceRetention(db: Database, days: number, busyMs: number): () => Promise<void> {
  let nextAt = 0;
  return async () => {
    if (days === 0 || performance.now() < nextAt) return;
    for (const endAt = performance.now() + busyMs; ;) {
      const { due, dropped, leftToOther } = await dropTraces(db, days, batch);
      if (due === 0) nextAt = performance.now() + pauseMs;
      if (dropped === 0 || leftToOther || performance.now() > endAt) return;
    }
  };
}
