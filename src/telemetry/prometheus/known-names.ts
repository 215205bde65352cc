import type { AgentRegistry } from '../../agents/registry.ts';

/** What stands for every name that no definition has: requests choose models freely, and jobs name foreign agents. */
export const other = 'other';

/** Limits the values of labels to names out of the definitions, however many others requests bring. */
export function knownNames(agents: AgentRegistry) {
  const agentNames = new Set(agents.names);
  const models = new Set(agents.names.map((name) => agents.get(name).model));
  const tools = new Set(agents.toolNames);
  const among = (known: ReadonlySet<string>) => (name: string) => (known.has(name) ? name : other);
  return { agents: agents.names, agent: among(agentNames), model: among(models), tool: among(tools) };
}

export type KnownNames = ReturnType<typeof knownNames>;
