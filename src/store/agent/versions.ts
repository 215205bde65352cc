import type { JsonObject } from '../../context/message.ts';
import type { Database } from '../../postgres/pool.ts';
import { spentIn, toSpent, type SpentByModel, type StoredSpent } from '../run/spent.ts';

/** A version of an agent as the database has it. */
export interface StoredVersion {
  agent: string;
  id: string;
  /** The label under which a worker last started with it; null: none. */
  label: string | null;
  definition: JsonObject;
  /** When a worker first started with it. */
  firstAt: Date;
  /** When a worker last started with it. */
  lastAt: Date;
}

/** Stores the versions of the agents that a worker starts with. */
export async function recordVersions(
  db: Database,
  versions: readonly (Pick<StoredVersion, 'agent' | 'id' | 'definition'> & { label?: string })[],
): Promise<void> {
  await db.query('record_versions', 'select lanefold.record_versions($1)', [JSON.stringify(versions)]);
}

const columns = 'agent, id, label, definition, first_at as "firstAt", last_at as "lastAt"';

/** The versions of an agent, the one that a worker started with last first. */
export const listVersions = (db: Database, agent: string, limit: number): Promise<StoredVersion[]> =>
  db.query<StoredVersion>(
    'list_versions',
    `select ${columns} from lanefold.agent_version where agent = $1 order by last_at desc, first_at desc, id limit $2`,
    [agent, limit],
  );

/** What the runs of a version came to. */
export interface VersionRuns {
  version: string;
  runs: number;
  completed: number;
  failed: number;
  /** Of ended runs, from their start, in ms; null if none has ended. */
  meanDurationMs: number | null;
  spent: SpentByModel[];
}

/** How many runs are counted at most, newest first. */
const counted = 50_000;

/** The runs of an agent that were accepted within `hours`, by version. */
export async function countVersionRuns(db: Database, agent: string, hours: number): Promise<VersionRuns[]> {
  const rows = await db.query<Omit<VersionRuns, 'spent'> & { spent: StoredSpent[] | null }>(
    'count_version_runs',
    `with recent as materialized (
       select agent_version, status, created_at, started_at, finished_at, usage, other_usage, model, iteration from lanefold._run
       where agent = $1 and agent_version is not null
         and created_at > (select lanefold._now()) - $2::float8 * interval '1 hour'
       order by created_at desc limit ${counted})
     select v.version, v.runs, v.completed, v.failed, v."meanDurationMs", ${spentIn('select model, iteration, usage, other_usage, created_at from recent c where c.agent_version = v.version')} as spent
     from (select agent_version as version, count(*)::int as runs, count(*) filter (where status = 'completed')::int as completed,
             count(*) filter (where status = 'failed')::int as failed,
             (extract(epoch from avg(finished_at - started_at)) * 1000)::float8 as "meanDurationMs"
           from recent group by agent_version) v`,
    [agent, hours],
  );
  return rows.map(({ spent, ...row }) => ({ ...row, spent: toSpent(spent) }));
}
