import type { AgentRegistry } from '../../agents/registry.ts';

/**
 * The label for every name without a definition: requests can name any model, and jobs can name agents of other
 * workers.
 */
export const other = 'other';

/** Limits label values to names from the definitions, whatever names requests bring. */
export function knownNames(agents: AgentRegistry) {
  const agentNames = new Set(agents.names);
  const models = new Set(agents.names.map((name) => agents.get(name).model));
  const tools = new Set(agents.toolNames);
  const among = (known: ReadonlySet<string>) => (name: string) => (known.has(name) ? name : other);
  return { agents: agents.names, agent: among(agentNames), model: among(models), tool: among(tools) };
}

export type KnownNames = ReturnType<typeof knownNames>;
