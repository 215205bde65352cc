import { call } from '../call.ts';
import type { ListedVersion } from '../../../agent/definition/types.ts';
import type { Database } from '../../postgres/pool.ts';
import { recentRuns } from '../run/recent-runs.ts';
import { dayOf, spentColumns, toSpent, usageByModel, type SpentByModel } from '../run/spent.ts';
import { fromRows, readRows } from '../rows.ts';

/** A version of an agent as the database has it. */
export type StoredVersion = Pick<ListedVersion, 'agent' | 'id' | 'label' | 'definition' | 'firstAt' | 'lastAt'>;

/** Stores the versions of the agents that a worker starts with. */
export async function recordVersions(
  db: Database,
  versions: readonly (Pick<StoredVersion, 'agent' | 'id' | 'definition'> & { label?: string })[],
): Promise<void> {
  await call(db.query, 'record_versions', { p: JSON.stringify(versions) });
}

const columns = 'agent, id, label, definition, first_at, last_at';

/** The versions of an agent, the one that a worker started with last first. */
export const listVersions = (db: Database, agent: string, limit: number): Promise<StoredVersion[]> =>
  readRows<StoredVersion>(
    db,
    'list_versions',
    `select ${columns} from lanefold.agent_version where agent = $1 order by last_at desc, first_at desc, id limit $2`,
    [agent, limit],
  );

/** What the runs of a version came to. */
export interface VersionRuns extends Pick<ListedVersion, 'runs' | 'completed' | 'failed' | 'meanDurationMs'> {
  version: string;
  spent: SpentByModel[];
}

/** What the recent runs of an agent came to. */
export interface CountedRuns {
  /** The runs that were accepted since then are counted. */
  since: Date;
  versions: VersionRuns[];
}

/** The runs of an agent that were accepted within `hours`, by version, as far as they are among the newest of all agents. */
export async function countVersionRuns(db: Database, agent: string, hours: number): Promise<CountedRuns> {
  const [row] = await db.query<{
    since: Date;
    versions: object[] | null;
  }>(
    'count_version_runs',
    `with ${recentRuns(db, 'agent, agent_version, status, started_at, finished_at, usage, other_usage, model, iteration', '$2')},
     own as materialized (
       select agent_version, status, created_at, started_at, finished_at, usage, other_usage, model, iteration from recent where agent = $1 and agent_version is not null),
     spent as (
       select r.agent_version, ${spentColumns}, ${dayOf('r.created_at')} as at from own r ${usageByModel}
       where r.usage is not null group by r.agent_version, r.model, u.key, ${dayOf('r.created_at')}),
     version as (
       select agent_version as version, count(*)::int as runs, count(*) filter (where status = 'completed')::int as completed,
         count(*) filter (where status = 'failed')::int as failed,
         (extract(epoch from avg(finished_at - started_at)) * 1000)::float8 as mean_duration_ms
       from own group by agent_version)
     select (select since from counted) as since, (select json_agg(json_build_object('version', v.version, 'runs', v.runs, 'completed', v.completed,
       'failed', v.failed, 'mean_duration_ms', v.mean_duration_ms, 'spent', (select json_agg(s) from spent s where s.agent_version = v.version)))
       from version v) as versions`,
    [agent, hours],
  );
  const { since, versions } = row!;
  return {
    since,
    versions: fromRows<Omit<VersionRuns, 'spent'> & { spent: object[] | null }>(versions).map((version) => ({
      ...version,
      spent: toSpent(version.spent),
    })),
  };
}
