import type { AgentRegistry } from '../../agent/definition/registry.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import { compaction } from '../../agent/strategies/compaction/machine.ts';
import type { Strategy } from '../../agent/strategies/registry.ts';

/** Names of the strategies a worker can execute. */
export const executable = ({ strategies }: AgentRegistry): string[] => [...strategies.names, compaction.name];

/**
 * The strategy that executes a run: its own, the one its own selected, or the internal compaction, which no request can
 * name. Workers claim only runs whose strategy they know.
 */
export const strategyOf = (agents: AgentRegistry, { strategy, options }: Claim): Strategy =>
  options?.compaction ? compaction : agents.strategies.find(options?.selection?.strategy ?? strategy);
