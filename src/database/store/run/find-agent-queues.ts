import type { Database } from '../../postgres/pool.ts';
import { search } from '../nodes/guard-nodes.ts';
import type { Capabilities } from '../worker/find-lacking.ts';
import { anyTime } from './find-oldest-due.ts';
import { wantedVersion } from './sweep-limits.ts';

/** SQL: the version that a moved run wants and the tools that it needs, for a statement that uses `canExecute`. */
export const neededTools = `${wantedVersion('options')} as wanted_version, unknown_tools`;

/**
 * SQL: whether a moved run may be executed, with the lists of known versions, strategies and tools as these parameters. Needs the
 * columns of `neededTools`.
 */
export const canExecute = (versions: string, strategies: string, tools: string): string =>
  `(unknown_version is null or agent || '@' || unknown_version = any (${versions}))
    and (unknown_strategy is null or unknown_strategy = any (${strategies}))
    and (unknown_tools is null or lanefold._has_tools(${tools}, agent || coalesce('@' || wanted_version, ''), unknown_tools))`;

/** SQL: the queue of a moved run. */
export const agentQueue = 'lanefold._agent_queue(agent, unknown_version, unknown_strategy, unknown_tools)';

/** SQL: one text for all that a moved run needs, with the strategy that executes it. Needs the columns of `neededTools`. */
export const needsKey = (strategy: string): string =>
  `lanefold._agent_queue(agent, wanted_version, ${strategy}, unknown_tools)`;

/**
 * The queues, as `_agent_queue` names them, of moved runs that wait for a worker with these capabilities. `since`: see
 * `findOldestDue`.
 */
export async function findAgentQueues(
  db: Database,
  { agents, strategies, versions, tools }: Capabilities,
  since = anyTime,
): Promise<string[]> {
  const rows = await search<{ queue: string }>(db, 'query', {
    name: 'find_agent_queues',
    text: `select distinct ${agentQueue} as queue from (
       select agent, unknown_version, unknown_strategy, ${neededTools} from lanefold._run
       where active and suspended_until is null and agent_unknown_since is not null and agent = any ($1)
         and enqueued_at >= $3::timestamptz) r
     where ${canExecute('$4', '$2', '$5')}`,
    values: [agents, strategies, since, versions, tools],
  });
  return [...new Set(rows.map((row) => row.queue))];
}
