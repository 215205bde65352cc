import type { Database } from '../../postgres/pool.ts';
import type { Needs } from './capabilities.ts';

/**
 * Why no live worker can execute a run: none takes jobs from its queue, or what those lack that have all the earlier ones. The
 * errors of runs that waited for it for too long have the same names.
 */
export const lackingReasons = [
  'no_worker',
  'unknown_agent',
  'unknown_version',
  'unknown_strategy',
  'unknown_tool',
] as const;

export type LackingReason = (typeof lackingReasons)[number];

/** What runs of a queue need. */
export interface QueuedNeeds extends Needs {
  /** First part of the names of the queues of the run; null: any worker will do. */
  queue: string | null;
}

const records = `rows from (
    jsonb_to_recordset($1) as (queue text, agent text, version text, strategy text, tools text[], since timestamptz)
  ) with ordinality as n (queue, agent, version, strategy, tools, since, place)`;
const ofNeeds = 'n.queue, n.agent, n.version, n.strategy, n.tools';

/**
 * Why no live worker can execute runs with each of these needs, in order; undefined where one can. Undefined as a whole if the role
 * of the connection sees no workers.
 */
export async function findLacking(
  db: Database,
  needs: readonly QueuedNeeds[],
): Promise<(LackingReason | undefined)[] | undefined> {
  if (needs.length === 0) return [];
  if (!(await seesWorkers(db))) return undefined;
  const rows = await db.query<{ reason: LackingReason | null }>(
    'find_lacking',
    `select lanefold.unattended_reason(${ofNeeds}) as reason from ${records} order by n.place`,
    [JSON.stringify(needs)],
  );
  return rows.map(({ reason }) => reason ?? undefined);
}

async function seesWorkers(db: Database): Promise<boolean> {
  const [row] = await db.query<{ sees: boolean }>(
    'sees_workers',
    `select lanefold._sees_all() or lanefold._chooses_tenant() or coalesce(lanefold._bound_tenant() = '*', false) as sees`,
  );
  return row!.sees;
}

/**
 * The same, for needs that no worker has been able to meet for `forMs`, as `unattended_ms` counts from `since`; undefined for
 * others.
 */
export async function findUnattended(
  db: Database,
  needs: readonly (QueuedNeeds & { since: Date })[],
  forMs: number,
): Promise<(LackingReason | undefined)[]> {
  if (needs.length === 0) return [];
  const rows = await db.query<{ reason: LackingReason | null }>(
    'find_unattended',
    `select case when lanefold.unattended_ms(${ofNeeds}, n.since) >= $2::float8 then lanefold.unattended_reason(${ofNeeds}) end as reason
     from ${records} order by n.place`,
    [JSON.stringify(needs), forMs],
  );
  return rows.map(({ reason }) => reason ?? undefined);
}

/**
 * Which of these tools of an agent a run needs although this worker lacks them: those that a live worker has which could execute the
 * run, and those of the version of the agent that it had before.
 */
export async function findTools(
  db: Database,
  { queue, agent, version, strategy, tools }: QueuedNeeds & { tools: readonly string[] },
  earlierVersion: string | null,
): Promise<string[]> {
  const rows = await db.query<{ tool: string }>(
    'find_tools',
    `select t.tool from unnest($5::text[]) as t (tool)
     where lanefold.unattended_reason($1, $2, $3, $4, array[t.tool]) is null
       or exists (
         select from lanefold._agent_version v
         where v.agent = $2 and v.id = $6 and v.definition -> 'tools' @> jsonb_build_array(jsonb_build_object('name', t.tool)))`,
    [queue, agent, version ?? null, strategy ?? null, [...tools], earlierVersion],
  );
  return rows.map(({ tool }) => tool);
}
