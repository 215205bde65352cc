import type { Database } from '../../postgres/pool.ts';
import type { Capabilities } from '../run/find-agent-queues.ts';

/** A worker that is alive and takes runs. */
export interface Taker extends Capabilities {
  id: string;
  /** First part of the names of the queues it takes jobs from. */
  queue: string;
}

/** The workers that take runs; undefined if the role of the connection may not see workers. */
export async function findTakers(db: Database): Promise<Taker[] | undefined> {
  const takers = await db.query<Taker>(
    'find_takers',
    'select id, queue, agents, strategies, versions from lanefold.worker where alive and not draining',
  );
  if (takers.length > 0) return takers;
  const [row] = await db.query<{ sees: boolean }>(
    'sees_workers',
    `select lanefold._sees_all() or lanefold._chooses_tenant() or coalesce(lanefold._bound_tenant() = '*', false) as sees`,
  );
  return row!.sees ? [] : undefined;
}
