import { call } from '../call.ts';
import type { Database } from '../../postgres/pool.ts';
import { snakeKeys } from '../../../base/common/case.ts';

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

/** What a worker, or a fleet, can execute. */
export interface Capabilities {
  /** Names of agents. */
  agents: readonly string[];
  /** Names of strategies. */
  strategies: readonly string[];
  /** The versions of agents that it has, each as `agent@label` and as `agent@id`. */
  versions: readonly string[];
  /**
   * Its tools: `agent+tool` for one that the agent has where no version is wanted, `agent@label+tool` and `agent@id+tool` for one of
   * a version, `+tool` for one of no agent.
   */
  tools: readonly string[];
}

/** What a run needs of a worker. */
export interface Needs {
  agent: string;
  /** A label or an id; null or undefined: any. */
  version?: string | null | undefined;
  strategy?: string | null | undefined;
  /** Its tools: `tool` for one of the agent, `+tool` for one of the agent or of no agent; null or undefined: any. */
  tools?: readonly string[] | null | undefined;
}

/** Whether runs that need this agent, version and strategy can be executed. */
export const knows = (
  { agents, strategies, versions }: Capabilities,
  { agent, version, strategy }: Omit<Needs, 'tools'>,
): boolean =>
  agents.includes(agent) &&
  (version == null || versions.includes(`${agent}@${version}`)) &&
  (strategy == null || strategies.includes(strategy));

/** A time in which the event loop of a worker served nothing, in ms before its report. */
export interface Stall {
  /** `busy`: a call did not yield. `frozen`: it stood still, or its whole machine did. */
  kind: 'busy' | 'frozen';
  fromMs: number;
  toMs: number;
}

/** What a worker reports with each heartbeat. */
export interface WorkerReport extends Capabilities {
  id: string;
  host: string;
  pid: number;
  /** Of the package. */
  version: string;
  /** First part of the names of the queues it takes jobs from. */
  queue: string;
  concurrency: number;
  /** The worker counts as dead once it has been silent for this long. */
  deadAfterMs: number;
  runsHeld: number;
  /** It takes no more runs. */
  draining: boolean;
  /** It has ended: this is its last report. */
  stopped: boolean;
  /** Those that the database may not know yet. */
  stalls: Stall[];
}

/** The second argument of `lanefold.report_worker`. */
export const toReport = ({ id: _, stalls, ...report }: WorkerReport): string =>
  JSON.stringify({ ...snakeKeys(report), ...(stalls.length > 0 && { stalls: stalls.map(snakeKeys) }) });

/** A heartbeat sent alone, without renewing leases. */
export async function reportWorker(db: Database, report: WorkerReport): Promise<void> {
  await call(db.query, 'report_worker', { id: report.id, p: toReport(report) });
}
