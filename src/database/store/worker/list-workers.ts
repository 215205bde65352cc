import { call } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';
import { readRows } from '../rows.ts';
import type { FleetStats, ListedWorker } from './types.ts';

/** How many are listed at most. */
const most = 1_000;

/** The workers that are alive, then those last seen within `hours`; each by its last heartbeat, newest first. */
export const listWorkers = (db: Database, hours: number): Promise<ListedWorker[]> =>
  readRows<ListedWorker>(
    db,
    'list_workers',
    `select id, case when stopped_at is not null then 'stopped' when not alive then 'dead' when draining then 'draining'
              else 'alive' end as state,
       host, pid, version, queue, agents, strategies, concurrency, runs_held, started_at,
       heartbeat_at, stopped_at
     from lanefold.worker
     where alive or heartbeat_at > (select lanefold._now()) - $1::float8 * interval '1 hour'
     order by alive desc, heartbeat_at desc, id limit ${most}`,
    [hours],
  );

/** Workers by state; dead ones only if they were alive within the last hour. */
export async function countWorkers(db: Database): Promise<FleetStats['fleet']> {
  const [counts] = await db.query<FleetStats['fleet']>(
    'count_workers',
    `select count(*) filter (where alive and not draining)::int as alive, count(*) filter (where alive and draining)::int as draining,
       count(*) filter (where not alive and stopped_at is null
         and heartbeat_at > (select lanefold._now()) - interval '1 hour')::int as dead
     from lanefold.worker`,
  );
  return counts!;
}

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
  const cause = await call(db.query, 'loss_cause', { workerId: lost.worker_id, seenAt: lost.seen_at, askedBy });
  return cause as LossCause | null;
}
