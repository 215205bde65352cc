import type { Database } from '../../postgres/pool.ts';
import { search } from '../nodes/search.ts';
import { anyTime } from './find-oldest-due.ts';

/** What a worker, or a fleet, can execute. */
export interface Capabilities {
  /** Names of agents. */
  agents: readonly string[];
  /** Names of strategies. */
  strategies: readonly string[];
  /** The versions of agents that it has, each as `agent@label` and as `agent@id`. */
  versions: readonly string[];
}

/** What a run needs of a worker. */
export interface Needs {
  agent: string;
  /** A label or an id; null or undefined: any. */
  version?: string | null | undefined;
  strategy?: string | null | undefined;
}

/** Whether runs with these needs can be executed. */
export const knows = ({ agents, strategies, versions }: Capabilities, { agent, version, strategy }: Needs): boolean =>
  agents.includes(agent) &&
  (version == null || versions.includes(`${agent}@${version}`)) &&
  (strategy == null || strategies.includes(strategy));

/** SQL: whether a moved run may be executed, with the lists of known versions and strategies as these parameters. */
export const canExecute = (versions: string, strategies: string): string =>
  `(unknown_version is null or agent || '@' || unknown_version = any (${versions}))
    and (unknown_strategy is null or unknown_strategy = any (${strategies}))`;

/**
 * The queues, as `_agent_queue` names them, of moved runs that wait for a worker with these capabilities. `since`: see
 * `findOldestDue`.
 */
export async function findAgentQueues(
  db: Database,
  { agents, strategies, versions }: Capabilities,
  since = anyTime,
): Promise<string[]> {
  const rows = await search<{ queue: string }>(db, 'query', {
    name: 'find_agent_queues',
    text: `select distinct lanefold._agent_queue(agent, unknown_version, unknown_strategy) as queue from lanefold._run
     where active and suspended_until is null and agent_unknown_since is not null and agent = any ($1)
       and ${canExecute('$4', '$2')} and enqueued_at >= $3::timestamptz`,
    values: [agents, strategies, since, versions],
  });
  return [...new Set(rows.map((row) => row.queue))];
}
