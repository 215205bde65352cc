import type { AgentRegistry } from '../../agents/registry.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import { compaction } from '../../strategies/compaction/machine.ts';
import type { Strategy } from '../../strategies/registry.ts';

/** The strategy that executes a run: its own, the one that its own has chosen, or that of a compaction, which no request can name. @throws LanefoldError `unknown_strategy` */
export const strategyOf = (agents: AgentRegistry, { strategy, options }: Claim): Strategy =>
  options?.compaction ? compaction : agents.strategies.find(options?.selection?.strategy ?? strategy);

/** Undefined where this process does not know it, which fails the run a moment later. */
export const knownStrategyOf = ({ strategies }: AgentRegistry, { strategy, options }: Claim): Strategy | undefined => {
  if (options?.compaction) return compaction;
  const name = options?.selection?.strategy ?? strategy;
  return strategies.has(name) ? strategies.find(name) : undefined;
};
