import type { AgentRegistry } from '../../../agent/definition/registry.ts';
import { isLabel } from '../../../agent/definition/agent.ts';
import { readRollout } from '../../../agent/definition/version.ts';
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
import type { ListedRollout } from '../../../agent/definition/types.ts';
import type { DeclaredAgents } from './types.ts';

type Rollouts = Pick<DeclaredAgents, 'rollouts' | 'setRollout' | 'removeRollout' | 'moveThread'>;

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
    return { ...stored, unknown: Object.keys(stored.shares).filter((label) => !known.has(label)) };
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
