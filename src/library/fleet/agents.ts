import { iterationLimit } from '../../agents/iteration-limit.ts';
import type { AgentRegistry } from '../../agents/registry.ts';
import type { JsonObject } from '../../context/message.ts';

/** An agent as this process knows it. */
export interface AgentSummary {
  name: string;
  model: string;
  strategy: string;
  instructions: string | null;
  maxIterations: number;
  tools: { name: string; description: string | null; inputSchema: JsonObject; needsApproval: boolean }[];
}

export const listAgents = (agents: AgentRegistry): AgentSummary[] =>
  agents.names.map((name) => {
    const agent = agents.get(name);
    const { model, strategy, instructions, tools } = agent;
    const maxIterations = iterationLimit(agent, agents.strategies.find(strategy));
    return {
      ...{ name, model, strategy, instructions, maxIterations },
      tools: [...tools.values()].map((tool) => ({
        name: tool.name,
        description: tool.description ?? null,
        inputSchema: tool.inputSchema as JsonObject,
        needsApproval: tool.needsApproval !== undefined && tool.needsApproval !== false,
      })),
    };
  });
