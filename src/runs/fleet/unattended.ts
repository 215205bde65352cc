import type { Database } from '../../database/postgres/pool.ts';
import { findUnheldRuns, type RunOrThread, type UnheldRun } from '../../database/store/run/find-unheld-runs.ts';
import { toolNames } from '../../database/store/run/find-unknown-agents.ts';
import { findLacking, type LackingReason } from '../../database/store/worker/find-lacking.ts';

/** A run that no worker can take. */
export interface UnattendedRuns {
  threadId: string;
  runId: string;
  agent: string;
  /**
   * `no_worker`: no live worker takes jobs from the run's queue. `unknown_agent`: some do, but none of them knows its
   * agent. `unknown_version`: none of those that know the agent has the version that the run wants. `unknown_strategy`: none
   * of those knows the strategy. `unknown_tool`: none of those has all tools that the run needs.
   */
  reason: LackingReason;
  /** The reason as text for people, with what to do. */
  message: string;
}

/** Finds the runs that no worker holds and none can take. */
export type FindUnattended = (runs: readonly RunOrThread[]) => Promise<UnattendedRuns[]>;

/**
 * Looks for workers only if a run has none. The role of one tenant, such as a reader's, does not see workers: it finds
 * no unattended runs.
 *
 * @param all the connections of the process: connections of one tenant see no workers
 */
export const findUnattendedIn =
  (db: Database, all: Database): FindUnattended =>
  async (runs) => {
    const unheld = await findUnheldRuns(db, runs);
    if (unheld.length === 0) return [];
    const reasons = await findLacking(all, unheld);
    return unheld.flatMap((run, place) => {
      const reason = reasons?.[place];
      if (!reason) return [];
      const { threadId, runId, agent } = run;
      return [{ threadId, runId, agent, reason, message: `Run ${runId} is waiting: ${messageOf[reason](run)}` }];
    });
  };

const quoted = JSON.stringify;

const namedTools = (names: readonly string[]): string =>
  names.length === 1
    ? `the tool ${quoted(names[0])}`
    : `all of the tools ${names.map((name) => quoted(name)).join(', ')}`;

const messageOf: Record<UnattendedRuns['reason'], (run: UnheldRun) => string> = {
  no_worker: ({ queue }) =>
    `no worker is alive to take it from the queue ${quoted(queue)}. Start one, for example with \`lanefold worker\`.`,
  unknown_agent: ({ agent }) => `no live worker knows its agent ${quoted(agent)}. Start one that does.`,
  unknown_version: ({ agent, version }) =>
    `no live worker has version ${quoted(version)} of its agent ${quoted(agent)}. Start one that does, or cancel the run.`,
  unknown_strategy: ({ agent, strategy }) =>
    `no live worker that knows its agent ${quoted(agent)} knows its strategy ${quoted(strategy)}. Start one that does.`,
  unknown_tool: ({ agent, tools }) =>
    `no live worker that knows its agent ${quoted(agent)} has ${namedTools(toolNames(tools))}. Start one that does, or cancel the run.`,
};
