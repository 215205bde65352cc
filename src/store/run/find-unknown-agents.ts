import type { Database } from '../../postgres/pool.ts';
import type { Capabilities } from './find-passed-on-queues.ts';

/** An agent that runs wait for and that no worker seems to know, or to know with their strategy. */
export interface UnknownAgent {
  agent: string;
  /** The strategy that workers with the agent lack; null: they lack the agent. */
  strategy: string | null;
  /** Runs of it that wait. */
  runs: number;
  /** When a worker that knows it was last seen, or the first of its runs was passed on. */
  since: Date;
}

/** A worker that knows an agent looks at its waiting runs every few seconds, a few hundred at a time. */
const quietMs = 5_000;
const quietMsPerRun = 10;

/** Finds agents, of runs in this fleet's queues, that no worker has shown to know for a while. */
export async function findUnknownAgents(
  db: Database,
  queuePrefix: string,
  { agents, strategies }: Capabilities,
): Promise<UnknownAgent[]> {
  return db.query<UnknownAgent>(
    'find_unknown_agents',
    `with clock as materialized (select lanefold._now() as at)
     select agent, unknown_strategy as strategy, count(*)::int as runs, min(agent_unknown_since) as since
     from lanefold._run
     where active and suspended_until is null and agent_unknown_since is not null and queue_prefix = $1
       and (agent <> all ($2) or unknown_strategy <> all ($5))
     group by agent, unknown_strategy
     having min(agent_unknown_since) < (select at from clock) - ($3 + $4 * count(*)) * interval '1 ms'
     order by agent, unknown_strategy limit 20`,
    [queuePrefix, agents, quietMs, quietMsPerRun, strategies],
  );
}
