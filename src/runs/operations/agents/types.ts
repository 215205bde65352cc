// Generated from declaration.ts beside it: run `npm run types:api`.

import type { JsonObject } from '../../../agent/context/message.ts';
import type { ListedVersion } from '../../../agent/definition/types.ts';
import type { VersionChange } from '../../../agent/definition/types.ts';
import type { ListedRollout } from '../../../agent/definition/types.ts';
import type { RolloutDefinition } from '../../../agent/definition/types.ts';

/** An agent as this process knows it. */
export interface AgentSummary {
  name: string;
  /** What the agent is for; null without a description. */
  description: string | null;
  /**
   * The labels of its versions, beginning with the version that serves by default; empty if no version has a label.
   */
  labels: string[];
  model: string;
  strategy: string;
  /** The system prompt for lanes that set none. */
  instructions: string | null;
  /** Maximum iterations of a run. */
  maxIterations: number;
  tools: {
    name: string;
    description: string | null;
    /** JSON Schema. */
    inputSchema: JsonObject;
    needsApproval: boolean;
  }[];
  /** null: its results are text, or what its strategy returns. */
  outputSchema: JsonObject | null;
}

export interface DeclaredAgents {
  /**
   * The versions of an agent that workers have started with, the latest first (at most 200), with the runs that
   * were accepted within `hours`. At most the newest 10,000 runs of all agents are looked at: `since` says how far
   * that reaches back.
   *
   * @example
   * const [latest] = await lanefold.agents.versions('support');
   */
  versions(
    agent: string,
    options?: {
      /** Hours to look back; default 168. */
      hours?: number;
    },
  ): Promise<ListedVersion[]>;
  /**
   * What differs between two versions of an agent, by their ids.
   *
   * @example
   * const [to, from] = await lanefold.agents.versions('support');
   * if (from) console.log(await lanefold.agents.diff('support', from.id, to!.id));
   *
   * @throws LanefoldError `unknown_version`
   */
  diff(agent: string, from: string, to: string): Promise<VersionChange[]>;
  /** The rollouts of all agents, by name. */
  rollouts(): Promise<ListedRollout[]>;
  /**
   * Sets which versions of an agent serve its threads, by shares. A thread keeps the version it got first, whatever
   * the shares become. Processes notice within five seconds. A version that no worker has had is named in
   * `unknown`.
   *
   * @example
   * const { unknown } = await lanefold.agents.setRollout('support', { shares: { a: 90, b: 10 } });
   * if (unknown.length > 0) console.warn(`No worker has had ${unknown.join(', ')}.`);
   *
   * @throws LanefoldError `invalid_input`
   */
  setRollout(
    agent: string,
    rollout: RolloutDefinition,
    options?: {
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedRollout>;
  /**
   * Remove the rollout of an agent. The first version serves all threads again.
   *
   * @throws LanefoldError `rollout_not_found`
   */
  removeRollout(
    agent: string,
    options?: {
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<void>;
  /**
   * Moves a thread to another version of an agent that has a rollout, for the runs from now on; null: the rollout
   * chooses again.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `rollout_not_found`, `unknown_version`,
   * `invalid_input`
   */
  moveThread(
    threadId: string,
    agent: string,
    version: string | null,
    options?: {
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<void>;
}
