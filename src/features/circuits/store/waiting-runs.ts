import type { Database } from '../../../database/postgres/pool.ts';
import { search } from '../../../database/store/nodes/guard-nodes.ts';
import type { QueuedRun } from '../../../database/store/run/queued-run.ts';

/** Some of the runs of a fleet that wait until a model may be called, at most `limit`. */
export const findWaitingRuns = (db: Database, prefix: string, model: string, limit: number): Promise<QueuedRun[]> =>
  search<QueuedRun>(db, 'queryLong', {
    name: 'runs_of_circuit',
    text: `select r.thread_id, r.id as run_id, r.agent, r.enqueue_no, r.queue_shard
      from lanefold._run r
      where r.limited_by is not null and r.status = 'queued' and r.queue_prefix = $1 and r.limited_by ->> 'circuit' = $2
      limit $3`,
    values: [prefix, model, limit],
  });

/** The models that runs of a fleet wait for. */
export async function findAwaitedModels(db: Database, prefix: string): Promise<string[]> {
  const found = await search<{ model: string }>(db, 'queryLong', {
    name: 'awaited_models',
    text: `select distinct r.limited_by ->> 'circuit' as model
      from lanefold._run r
      where r.limited_by is not null and r.status = 'queued' and r.queue_prefix = $1 and r.limited_by ? 'circuit'`,
    values: [prefix],
  });
  return found.map(({ model }) => model);
}
