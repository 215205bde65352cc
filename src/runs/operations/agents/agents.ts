import { iterationLimit, type AgentRegistry } from '../../../agent/definition/registry.ts';
import type { JsonObject } from '../../../agent/context/message.ts';

/** An agent as this process knows it. */
export interface AgentSummary {
  name: string;
  /** The labels of its versions in this process, the one that serves where nothing else is said first; empty if it has none. */
  labels: string[];
  /** What the agent is for; null if its definition does not say. */
  description: string | null;
  model: string;
  strategy: string;
  instructions: string | null;
  maxIterations: number;
  tools: { name: string; description: string | null; inputSchema: JsonObject; needsApproval: boolean }[];
  /** The JSON Schema of its results; null if they are text, or what its strategy returns. */
  outputSchema: JsonObject | null;
}

export const listAgents = (agents: AgentRegistry): AgentSummary[] =>
  agents.names.map((name) => {
    const agent = agents.get(name);
    const { model, strategy, instructions, tools, description = null } = agent;
    const maxIterations = iterationLimit(agent, agents.strategies.find(strategy));
    return {
      name,
      labels: agents.versions(name).flatMap(({ version }) => version.label ?? []),
      description,
      model,
      strategy,
      instructions,
      maxIterations,
      tools: [...tools.values()].map((tool) => ({
        name: tool.name,
        description: tool.description ?? null,
        inputSchema: tool.inputSchema as JsonObject,
        needsApproval: tool.needsApproval !== undefined && tool.needsApproval !== false,
      })),
      outputSchema: (agent.output?.schema as JsonObject | undefined) ?? null,
    };
  });
