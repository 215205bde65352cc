import { diffVersions } from '../../../agent/definition/version.ts';
import { assertStorable } from '../../../base/checks/values.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { countVersionRuns, listVersions, type VersionRuns } from '../../../database/store/agent/versions.ts';
import { costOf } from '../runs/cost.ts';
import type { DeclaredAgents } from './types.ts';

const most = 200;

export const versionsOf = (db: Database, counting: Counting): Pick<DeclaredAgents, 'versions' | 'diff'> => ({
  async versions(agent, { hours = 168 } = {}) {
    assertStorable(agent, 'The agent');
    const { reader } = db;
    const [versions, counts] = await Promise.all([
      listVersions(reader, agent, most),
      countVersionRuns(reader, agent, hours),
    ]);
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
