import type { JsonObject } from '../../../agent/context/message.ts';
import { iterationLimit, type AgentRegistry } from '../../../agent/definition/registry.ts';
import type { Counting } from '../../../agent/models/counting.ts';
import { checked } from '../../../base/operations/checked.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { agents as declaration } from './declaration.ts';
import { rolloutsOf } from './rollouts.ts';
import type { AgentSummary, DeclaredAgents } from './types.ts';
import { versionsOf } from './versions.ts';

export interface Agents extends DeclaredAgents {
  /** The agents that this process knows. */
  list(): AgentSummary[];
}

/** @param onRollout lets this process know a changed rollout at once */
export const agentsOf = (db: Database, agents: AgentRegistry, counting: Counting, onRollout: () => void): Agents =>
  checked(declaration, {
    list: () => listAgents(agents),
    ...versionsOf(db, counting),
    ...rolloutsOf(db, agents, onRollout),
  });

const listAgents = (agents: AgentRegistry): AgentSummary[] =>
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
