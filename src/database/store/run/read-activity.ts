import type { Database } from '../../postgres/pool.ts';
import type { FleetActivity } from '../worker/types.ts';
import { recentRuns } from './recent-runs.ts';
import { spentColumns, toSpent, usageByModel, type SpentByModel } from './spent.ts';
import { fromRows } from '../rows.ts';

/** The recent activity of the workers, as the database recorded it. */
export interface RecordedActivity extends Omit<FleetActivity, 'slots'> {
  /** Without what their tokens cost. */
  slots: Omit<FleetActivity['slots'][number], 'cost' | 'unpricedTokens'>[];
  /** The tokens of the slots by model, as the runs named it. */
  spent: SpentByModel[];
}

/** Looks back over `hours`, in about a hundred slots. */
export async function readActivity(db: Database, hours: number): Promise<RecordedActivity> {
  const [row] = await db.query<{ activity: Stored }>(
    'activity',
    `with ${recentRuns(
      db,
      `status, finished_at, error, usage, other_usage, model, iteration,
       to_timestamp(floor(extract(epoch from created_at) / ($1::float8 * 36)) * $1::float8 * 36) as slot_at`,
      '$1',
    )},
     slot as (
       select slot_at as at, count(*) as runs,
              count(*) filter (where status = 'failed') as failed,
              coalesce(sum((usage ->> 'input_tokens')::bigint), 0) as input,
              coalesce(sum((usage ->> 'output_tokens')::bigint), 0) as output,
              coalesce(sum((usage ->> 'cache_read_tokens')::bigint), 0) as cached
       from recent group by 1),
     spent as (
       select ${spentColumns}, r.slot_at as at from recent r ${usageByModel}
       where (r.usage ->> 'total_tokens')::bigint > 0 group by r.slot_at, r.model, u.key)
     select json_build_object(
       'since', (select since from counted),
       'workers', (select json_agg(w order by w.id) from (
         select worker_id as id, count(*) as runs, max(lease_until) as lease_until, min(started_at) as oldest_run_at
         from lanefold._run where active and status = 'running' and worker_id is not null group by worker_id) w),
       'errors', (select json_agg(e order by e.runs desc, e.type) from (
         select coalesce(error ->> 'type', 'unknown') as type, count(*) as runs, max(finished_at) as last_at
         from recent where status = 'failed' group by 1) e),
       'spent', (select json_agg(p order by p.at) from spent p),
       'slots', (select json_agg(json_build_object('at', s.at, 'runs', s.runs, 'failed', s.failed, 'input_tokens', s.input,
         'output_tokens', s.output, 'cached_tokens', s.cached) order by s.at) from slot s)) as activity`,
    [hours],
  );
  const { since, workers, errors, slots, spent } = row!.activity;
  return {
    since: new Date(since),
    workers: fromRows(workers),
    errors: fromRows(errors),
    spent: toSpent(spent),
    slots: fromRows(slots),
  };
}

/** Each list is null if it is empty. */
type Stored = { since: string } & Record<'workers' | 'errors' | 'spent' | 'slots', object[] | null>;
