import type { AgentRegistry } from '../../agents/registry.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import type { Strategy } from '../../strategies/registry.ts';

/** The strategy that executes a run: its own, or the one that its own has chosen. @throws LanefoldError `unknown_strategy` */
export const strategyOf = (agents: AgentRegistry, { strategy, options }: Claim): Strategy =>
  agents.strategies.find(options?.selection?.strategy ?? strategy);

/** Undefined where this process does not know it, which fails the run a moment later. */
export const knownStrategyOf = ({ strategies }: AgentRegistry, { strategy, options }: Claim): Strategy | undefined => {
  const name = options?.selection?.strategy ?? strategy;
  return strategies.has(name) ? strategies.find(name) : undefined;
};
