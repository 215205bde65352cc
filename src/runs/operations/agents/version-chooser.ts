import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { chooseVersion, type Rollout } from '../../../agent/definition/version.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readRollouts, readThreadVersion } from '../../../database/store/agent/rollouts.ts';

/** The version of its agent for a new run. */
export interface ChosenVersion {
  /** A label or an id; undefined: the first version. */
  version: string | undefined;
  /** The thread keeps it. */
  kept: boolean;
}

/** For which run a version is chosen. */
interface Choice {
  agent: string;
  threadId: string;
  limitKeys?: Record<string, string>;
}

const none: ChosenVersion = { version: undefined, kept: false };
/** How long a process may go by rollouts that have changed. */
const freshMs = 5_000;

/**
 * Chooses versions of agents that have a rollout. Only a process that has several versions of an agent looks for rollouts, at
 * most every five seconds.
 */
export class VersionChooser {
  #rollouts: Promise<Map<string, Rollout>> | undefined;
  #readAt = 0;

  /** @param all connections that no tenant binds: rollouts belong to none */
  constructor(
    private readonly all: Database,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** The version that the thread keeps, else the choice of the rollout, if this process has that version. */
  async choose(db: Database, agents: AgentRegistry, { agent, threadId, limitKeys }: Choice): Promise<ChosenVersion> {
    if (agents.versions(agent).length < 2) return none;
    const rollout = (await this.#read()).get(agent);
    if (!rollout) return none;
    const { version: kept, hasRuns } = await readThreadVersion(db, threadId, agent);
    // a conversation that began before the rollout stays with the first version
    if (kept === null && hasRuns) return none;
    const key = (rollout.key === null ? undefined : limitKeys?.[rollout.key]) ?? threadId;
    const version = kept ?? chooseVersion(agent, rollout, key);
    // a process of an earlier deployment may lack it: the thread is not bound to what this one has instead
    return version !== undefined && agents.under(agent, version).has(agent) ? { version, kept: true } : none;
  }

  /** Forgets the rollouts that were read, because they have changed. */
  refresh(): void {
    this.#rollouts = undefined;
  }

  #read(): Promise<Map<string, Rollout>> {
    const now = performance.now();
    if (this.#rollouts && now - this.#readAt < freshMs) return this.#rollouts;
    const earlier = this.#rollouts;
    this.#readAt = now;
    return (this.#rollouts = readRollouts(this.all)
      .then((rollouts) => new Map(rollouts.map((rollout) => [rollout.agent, rollout])))
      .catch((error: unknown) => {
        this.onError(error);
        return earlier ?? new Map<string, Rollout>();
      }));
  }
}
