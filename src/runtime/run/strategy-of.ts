import type { AgentRegistry } from '../../agents/registry.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import { compaction } from '../../strategies/compaction/machine.ts';
import type { Strategy } from '../../strategies/registry.ts';

/** Names of the strategies a worker can execute. */
export const executable = ({ strategies }: AgentRegistry): string[] => [...strategies.names, compaction.name];

/**
 * The strategy that executes a run: its own, the one its own selected, or the internal compaction, which no request can
 * name. Workers claim only runs whose strategy they know.
 */
export const strategyOf = (agents: AgentRegistry, { strategy, options }: Claim): Strategy =>
  options?.compaction ? compaction : agents.strategies.find(options?.selection?.strategy ?? strategy);
