import type { AgentRegistry } from '../../agents/registry.ts';

/**
 * The label for every other name: requests can name any model, jobs can name agents of other workers, and each name costs
 * dozens of series.
 */
export const other = 'other';

/** How many names of each label a worker measures by themselves. */
const most = { agents: 20, models: 20, tools: 50 };

/**
 * Limits label values to a bounded number of names from the definitions. Which ones depends on the definitions alone, so
 * that all workers of a fleet agree, and sums over workers are right.
 *
 * @param chosen the agents to measure by themselves; default: those defined first
 * @throws LanefoldError `unknown_agent`
 */
export function knownNames(agents: AgentRegistry, chosen: readonly string[] = agents.names.slice(0, most.agents)) {
  const first = [...new Set([...chosen, ...agents.names])].map((name) => agents.get(name));
  const models = first.map(({ model }) => model);
  const tools = [...first.flatMap((agent) => [...agent.tools.keys()]), ...agents.toolNames];
  return {
    agents: chosen,
    agent: among(chosen),
    model: among([...new Set(models)].slice(0, most.models)),
    tool: among([...new Set(tools)].slice(0, most.tools)),
  };
}

const among = (names: readonly string[]) => {
  const known = new Set(names);
  return (name: string): string => (known.has(name) ? name : other);
};

export type KnownNames = ReturnType<typeof knownNames>;
