import type { Database } from '../../postgres/pool.ts';
import { findUnattended, type LackingReason } from '../worker/find-lacking.ts';
import { neededTools, needsKey } from './find-agent-queues.ts';
import { anyTime } from './find-oldest-due.ts';
import { executing } from './sweep-limits.ts';

/** An agent that runs wait for, but that no live worker knows, or none has in their version, or together with their strategy and tools. */
export interface UnknownAgent {
  agent: string;
  /** The version that workers with the agent lack: a label or an id; null: they lack something else. */
  version: string | null;
  /** The strategy that workers with the agent lack; null: they lack something else. */
  strategy: string | null;
  /** The tools that no worker with the agent has all of; null: they lack something else. */
  tools: string[] | null;
  /** How many of its runs wait. */
  runs: number;
  /** When a worker that knows it was last seen, or the first of its runs was moved. */
  since: Date;
}

/** Moved runs that no worker can execute, by what they need. */
export interface UnattendedNeeds {
  agent: string;
  version: string | null;
  strategy: string;
  /** As `Needs` has them. */
  tools: string[] | null;
  /** All that they need, as `needsKey` says. */
  key: string;
  /** What workers lack. */
  reason: LackingReason;
  runs: number;
  since: Date;
}

/** How long to wait before reporting an agent: workers of one deployment do not all start at once. */
const quietMs = 5_000;
/** How many are reported at most. */
const most = 20;

/** Finds what moved runs in this fleet's queues need and no worker could execute for `forMs`. `since`: see `findOldestDue`. */
export async function findUnattendedNeeds(
  db: Database,
  queuePrefix: string,
  forMs: number,
  since = anyTime,
): Promise<UnattendedNeeds[]> {
  const wanted = await db.query<Omit<UnattendedNeeds, 'reason'>>(
    'find_unknown_agents',
    `with clock as materialized (select lanefold._now() as at)
     select agent, wanted_version as version, strategy, unknown_tools as tools, ${needsKey('strategy')} as key, count(*)::int as runs,
       min(agent_unknown_since) as since
     from (
       select agent, ${executing} as strategy, ${neededTools}, agent_unknown_since from lanefold._run
       where active and suspended_until is null and agent_unknown_since is not null and queue_prefix = $1
         and enqueued_at >= $3::timestamptz) r
     group by 1, 2, 3, 4
     having min(agent_unknown_since) < (select at from clock) - $2::float8 * interval '1 ms'
     order by 1, 2, 3, 4`,
    [queuePrefix, forMs, since],
  );
  const needs = wanted.map((needed) => ({ ...needed, queue: queuePrefix }));
  const reasons = await findUnattended(db, needs, forMs);
  return wanted.flatMap((needed, place) => {
    const reason = reasons[place];
    return reason ? [{ ...needed, reason }] : [];
  });
}

/** Finds the agents of moved runs in this fleet's queues that no worker could execute for a while. `since`: see `findOldestDue`. */
export async function findUnknownAgents(db: Database, queuePrefix: string, since = anyTime): Promise<UnknownAgent[]> {
  const found = await findUnattendedNeeds(db, queuePrefix, quietMs, since);
  return found.slice(0, most).map(({ agent, version, strategy, tools, reason, runs, since: from }) => ({
    agent,
    version: reason === 'unknown_version' ? version : null,
    strategy: reason === 'unknown_strategy' ? strategy : null,
    tools: reason === 'unknown_tool' ? toolNames(tools) : null,
    runs,
    since: from,
  }));
}

/** The names of tools that `Needs` has. */
export const toolNames = (tools: readonly string[] | null): string[] =>
  (tools ?? []).map((tool) => tool.replace('+', ''));
