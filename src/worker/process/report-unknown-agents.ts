import type { Database } from '../../database/postgres/pool.ts';
import { findUnknownAgents, type UnknownAgent } from '../../database/store/run/find-unknown-agents.ts';

/** One line for people: what waits, and what to do. */
export const describeUnknownAgent = ({ agent, version, strategy, tools, runs, since }: UnknownAgent): string => {
  const lacking = [
    ...(tools === null
      ? []
      : [
          tools.length === 1
            ? `the tool ${JSON.stringify(tools[0])}`
            : `all of the tools ${tools.map((name) => JSON.stringify(name)).join(', ')}`,
        ]),
    ...(strategy === null ? [] : [`the strategy ${JSON.stringify(strategy)}`]),
    ...(version === null ? [] : [`version ${JSON.stringify(version)}`]),
    `the agent ${JSON.stringify(agent)}`,
  ];
  return (
    `no worker knows ${lacking.join(' of ')}: ${runs === 1 ? 'one run has' : `${runs} runs have`} been waiting for it since ` +
    `${since.toISOString()}; start a worker that has it, or cancel ${runs === 1 ? 'the run' : 'them'}`
  );
};

const againMs = 60_000;

/**
 * Reports agents, and versions, strategies and tools of agents, that runs wait for and no worker knows: each once, and again after a minute
 * or when more runs wait.
 */
export function reportUnknownAgents(
  db: Database,
  queuePrefix: string,
  report: (agent: UnknownAgent) => void,
  since: () => Promise<string>,
): () => Promise<void> {
  let reported = new Map<string, { runs: number; at: number }>();
  return async () => {
    const found = await findUnknownAgents(db, queuePrefix, await since());
    const now = performance.now();
    const before = reported;
    reported = new Map();
    for (const agent of found) {
      const name = JSON.stringify([agent.agent, agent.version, agent.strategy, agent.tools]);
      const last = before.get(name);
      const due = !last || agent.runs > last.runs || now - last.at > againMs;
      reported.set(name, due ? { runs: agent.runs, at: now } : last);
      if (due) report(agent);
    }
  };
}
