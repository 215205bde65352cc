import type { Database } from '../../postgres/pool.ts';
import type { Capabilities } from '../../store/run/find-passed-on-queues.ts';
import { findUnknownAgents, type UnknownAgent } from '../../store/run/find-unknown-agents.ts';

const againMs = 60_000;

/**
 * Reports agents, and strategies of agents, that runs wait for and no worker knows: each once, and again after a minute or
 * when more runs wait.
 */
export function reportUnknownAgents(
  db: Database,
  queuePrefix: string,
  known: Capabilities,
  report: (agent: UnknownAgent) => void,
): () => Promise<void> {
  let reported = new Map<string, { runs: number; at: number }>();
  return async () => {
    const found = await findUnknownAgents(db, queuePrefix, known);
    const now = performance.now();
    const before = reported;
    reported = new Map();
    for (const agent of found) {
      const name = JSON.stringify([agent.agent, agent.strategy]);
      const last = before.get(name);
      const due = !last || agent.runs > last.runs || now - last.at > againMs;
      reported.set(name, due ? { runs: agent.runs, at: now } : last);
      if (due) report(agent);
    }
  };
}
