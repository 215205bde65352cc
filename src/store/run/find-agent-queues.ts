import type { Database } from '../../postgres/pool.ts';
import { anyTime } from './find-oldest-due.ts';

/** What a worker, or a fleet, can execute. */
export interface Capabilities {
  /** Names of agents. */
  agents: readonly string[];
  /** Names of strategies. */
  strategies: readonly string[];
}

/** Whether runs of an agent, with a strategy where one is given, can be executed. */
export const knows = ({ agents, strategies }: Capabilities, agent: string, strategy?: string | null): boolean =>
  agents.includes(agent) && (strategy == null || strategies.includes(strategy));

/**
 * The queues, as `_agent_queue` names them, of moved runs that wait for a worker with these capabilities. `since`: see
 * `findOldestDue`.
 */
export async function findAgentQueues(
  db: Database,
  { agents, strategies }: Capabilities,
  since = anyTime,
): Promise<string[]> {
  const rows = await db.query<{ queue: string }>(
    'find_agent_queues',
    `select distinct lanefold._agent_queue(agent, unknown_strategy) as queue from lanefold._run
     where active and suspended_until is null and agent_unknown_since is not null and agent = any ($1)
       and (unknown_strategy is null or unknown_strategy = any ($2)) and enqueued_at >= $3::timestamptz`,
    [agents, strategies, since],
  );
  return rows.map((row) => row.queue);
}
