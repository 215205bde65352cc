import type { Database } from '../../postgres/pool.ts';

/** Why a worker was lost, if the cause lies outside of the runs that it held. */
export type LossCause = 'database_restarted' | 'database_silent' | 'worker_frozen' | 'worker_stopping' | 'workers_lost';

/** A worker that lost a run. */
export interface LostWorker {
  worker_id: string;
  /** When it last renewed the lease. */
  seen_at: string;
  /** If the node of the thread knows the cause. */
  cause?: LossCause;
}

/** Why a worker was lost; null: unknown. */
export async function findLossCause(db: Database, lost: LostWorker, askedBy: string): Promise<LossCause | null> {
  if (lost.cause) return lost.cause;
  const [row] = await db.query<{ cause: LossCause | null }>(
    'loss_cause',
    'select lanefold.loss_cause($1, $2, $3) as cause',
    [lost.worker_id, lost.seen_at, askedBy],
  );
  return row!.cause;
}
