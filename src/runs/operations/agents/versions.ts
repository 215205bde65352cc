import type { RunCost } from '../../../database/store/run/types.ts';
import { diffVersions, type VersionChange } from '../../../agent/definition/version.ts';
import { assertStorable, assertWhole } from '../../../base/checks/values.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import {
  countVersionRuns,
  listVersions,
  type StoredVersion,
  type VersionRuns,
} from '../../../database/store/agent/versions.ts';
import { costOf } from '../runs/cost.ts';

/** A version of an agent, and what its runs came to. */
export interface ListedVersion extends StoredVersion, Omit<VersionRuns, 'version' | 'spent'>, RunCost {
  inputTokens: number;
  outputTokens: number;
  /** The runs that were accepted since then are counted. */
  since: Date;
}

export interface AgentVersions {
  /**
   * The versions of an agent that workers have started with, the latest first (at most 200), with the runs that were
   * accepted within `hours` (default 168, at most 8,760). At most the newest 10,000 runs of all agents are looked at:
   * `since` says how far that reaches back.
   *
   * @throws LanefoldError `invalid_input`
   *
   * @example
   * const [latest] = await lanefold.agents.versions('support');
   */
  versions(agent: string, options?: { hours?: number }): Promise<ListedVersion[]>;
  /**
   * What differs between two versions of an agent, by their ids.
   *
   * @throws LanefoldError `unknown_version`
   *
   * @example
   * const [to, from] = await lanefold.agents.versions('support');
   * if (from) console.log(await lanefold.agents.diff('support', from.id, to!.id));
   */
  diff(agent: string, from: string, to: string): Promise<VersionChange[]>;
}

const most = 200;

export const versionsOf = (db: Database, counting: Counting): AgentVersions => ({
  async versions(agent, { hours = 168 } = {}) {
    assertStorable(agent, 'The agent');
    assertWhole(hours, 'hours', { minimum: 1, maximum: 8_760, hint: 'Omit it for the last week.' });
    const [versions, counts] = await Promise.all([listVersions(db, agent, most), countVersionRuns(db, agent, hours)]);
    const byId = new Map(counts.versions.map((count) => [count.version, count]));
    const { since } = counts;
    return Promise.all(
      versions.map(async (version) => ({ ...version, ...(await runsOf(counting, byId.get(version.id))), since })),
    );
  },
  async diff(agent, from, to) {
    assertStorable([agent, from, to], 'The versions');
    const versions = await listVersions(db, agent, most);
    const find = (id: string) => {
      const found = versions.find((version) => version.id === id);
      if (found) return found.definition;
      throw new LanefoldError(
        'unknown_version',
        `Agent ${JSON.stringify(agent)} has no version ${JSON.stringify(id)}.`,
        {
          hint: 'Versions are stored when a worker starts. List them with `lanefold agents versions`.',
        },
      );
    };
    return diffVersions(find(from), find(to));
  },
});

async function runsOf(counting: Counting, count: VersionRuns | undefined) {
  const { spent = [], version: _, ...runs } = count ?? { runs: 0, completed: 0, failed: 0, meanDurationMs: null };
  const { cost, unpricedTokens } = await costOf(counting, spent);
  const sum = (key: 'inputTokens' | 'outputTokens') => spent.reduce((all, one) => all + one[key], 0);
  return { ...runs, cost, unpricedTokens, inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
}
