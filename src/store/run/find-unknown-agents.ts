import type { Database } from '../../postgres/pool.ts';
import { findTakers } from '../worker/find-takers.ts';
import { knows } from './find-agent-queues.ts';
import { anyTime } from './find-oldest-due.ts';

/** An agent that runs wait for, but that no live worker knows, or none has in their version, or together with their strategy. */
export interface UnknownAgent {
  agent: string;
  /** The version that workers with the agent lack: a label or an id; null: any would do. */
  version: string | null;
  /** The strategy that workers with the agent lack; null: they lack the agent or its version. */
  strategy: string | null;
  /** How many of its runs wait. */
  runs: number;
  /** When a worker that knows it was last seen, or the first of its runs was moved. */
  since: Date;
}

/** How long to wait before reporting an agent: workers of one deployment do not all start at once. */
const quietMs = 5_000;
/** How many are reported at most. */
const most = 20;

/** Finds the agents of runs in this fleet's queues that no live worker has known for a while. `since`: see `findOldestDue`. */
export async function findUnknownAgents(db: Database, queuePrefix: string, since = anyTime): Promise<UnknownAgent[]> {
  const wanted = await db.query<UnknownAgent>(
    'find_unknown_agents',
    `with clock as materialized (select lanefold._now() as at)
     select agent, unknown_version as version, unknown_strategy as strategy, count(*)::int as runs, min(agent_unknown_since) as since
     from lanefold._run
     where active and suspended_until is null and agent_unknown_since is not null and queue_prefix = $1
       and enqueued_at >= $3::timestamptz
     group by agent, unknown_version, unknown_strategy
     having min(agent_unknown_since) < (select at from clock) - $2 * interval '1 ms'
     order by agent, unknown_version, unknown_strategy`,
    [queuePrefix, quietMs, since],
  );
  if (wanted.length === 0) return [];
  const takers = ((await findTakers(db)) ?? []).filter(({ queue }) => queue === queuePrefix);
  const isKnown = (wants: UnknownAgent) => takers.some((taker) => knows(taker, wants));
  return wanted.filter((agent) => !isKnown(agent)).slice(0, most);
}
