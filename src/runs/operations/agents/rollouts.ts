import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { isLabel } from '../../../agent/definition/agent.ts';
import { readRollout, type RolloutDefinition } from '../../../agent/definition/version.ts';
import { assertId } from '../../../base/checks/ids.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import {
  readRollouts,
  removeRollout,
  setRollout,
  setThreadVersion,
  type StoredRollout,
} from '../../../database/store/agent/rollouts.ts';
import { listVersions } from '../../../database/store/agent/versions.ts';
import { readThread } from '../../../database/store/log/read-thread.ts';

/** A rollout in force. */
export interface ListedRollout extends StoredRollout {
  /** Versions with a share that neither this process nor any worker has had. */
  unknown: string[];
}

export interface RolloutOwner {
  /** Who changes it, for the audit; default `operator`. */
  by?: string;
}

export interface Rollouts {
  /** The rollouts of all agents, by name. */
  rollouts(): Promise<ListedRollout[]>;
  /**
   * Sets which versions of an agent serve its threads, by shares. A thread keeps the version it got first, whatever the shares
   * become. Processes notice within five seconds. A version that no worker has had is named in `unknown`.
   *
   * @throws LanefoldError `invalid_input`; `details.field` names the field
   *
   * @example
   * const { unknown } = await lanefold.agents.setRollout('support', { weights: { a: 90, b: 10 } });
   * if (unknown.length > 0) console.warn(`No worker has had ${unknown.join(', ')}.`);
   */
  setRollout(agent: string, rollout: RolloutDefinition, on?: RolloutOwner): Promise<ListedRollout>;
  /** Removes a rollout: the first version serves all threads again. @throws LanefoldError `rollout_not_found` */
  removeRollout(agent: string, on?: RolloutOwner): Promise<void>;
  /**
   * Moves a thread to another version of an agent that has a rollout, for the runs from now on; null: the rollout chooses again.
   *
   * @throws LanefoldError `thread_not_found`, `rollout_not_found`, `unknown_version`, `invalid_input`
   */
  moveThread(threadId: string, agent: string, version: string | null, on?: RolloutOwner): Promise<void>;
}

const most = 200;

/** @param onChange lets this process know the change at once */
export function rolloutsOf(db: Database, agents: AgentRegistry, onChange: () => void): Rollouts {
  const knownLabels = async (agent: string): Promise<Set<string>> => {
    const seen = await listVersions(db, agent, most);
    const own = agents.versions(agent).flatMap(({ version }) => version.label ?? []);
    return new Set([...seen.flatMap(({ label }) => label ?? []), ...own]);
  };
  const list = async (stored: StoredRollout): Promise<ListedRollout> => {
    const known = await knownLabels(stored.agent);
    return { ...stored, unknown: Object.keys(stored.weights).filter((label) => !known.has(label)) };
  };
  const find = async (agent: string) => (await readRollouts(db)).find((one) => one.agent === agent);
  return {
    rollouts: async () => Promise.all((await readRollouts(db)).map(list)),
    async setRollout(agent, definition, { by = 'operator' } = {}) {
      assertStorable(agent, 'The agent');
      const rollout = readRollout(definition);
      await setRollout(db, agent, rollout, by);
      onChange();
      return list((await find(agent))!);
    },
    async removeRollout(agent, { by = 'operator' } = {}) {
      assertStorable(agent, 'The agent');
      if (!(await removeRollout(db, agent, by))) throw rolloutNotFound(agent);
      onChange();
    },
    async moveThread(threadId, agent, version, { by = 'operator' } = {}) {
      assertId(threadId, 'The thread id');
      assertStorable(agent, 'The agent');
      if (version !== null && !isLabel(version))
        throw new LanefoldError('invalid_input', 'version must be the label of a version, or null.', {
          hint: 'Nothing was written.',
        });
      await readThread(db, threadId);
      if (!(await find(agent))) throw rolloutNotFound(agent);
      if (version !== null && !(await knownLabels(agent)).has(version)) throw unknownLabel(agent, version);
      await setThreadVersion(db, threadId, agent, version, by);
    },
  };
}

const rolloutNotFound = (agent: string): LanefoldError =>
  new LanefoldError('rollout_not_found', `Agent ${JSON.stringify(agent)} has no rollout.`, {
    hint: 'List the rollouts with `lanefold agents rollouts`.',
  });

const unknownLabel = (agent: string, version: string): LanefoldError =>
  new LanefoldError(
    'unknown_version',
    `No worker has had version ${JSON.stringify(version)} of agent ${JSON.stringify(agent)}.`,
    {
      hint: 'Nothing was written. List them with `lanefold agents versions`.',
    },
  );
