import type { AgentRegistry } from '../../agents/registry.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import { compaction } from '../../strategies/compaction/machine.ts';
import type { Strategy } from '../../strategies/registry.ts';

/**
 * The strategy that executes a run: its own, the one that its own has chosen, or that of a compaction, which no request can
 * name. No worker claims a run without knowing it.
 */
export const strategyOf = (agents: AgentRegistry, { strategy, options }: Claim): Strategy =>
  options?.compaction ? compaction : agents.strategies.find(options?.selection?.strategy ?? strategy);

/** Names of the strategies whose runs a worker with these agents claims. */
export const knownStrategies = ({ strategies }: AgentRegistry): string[] => [...strategies.names, compaction.name];
