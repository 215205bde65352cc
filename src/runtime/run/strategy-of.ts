import type { AgentRegistry } from '../../agents/registry.ts';
import type { Claim } from '../../store/run/claim-run.ts';
import type { Strategy } from '../../strategies/registry.ts';

/** The strategy that executes a run: its own, or the one that its own has chosen. No worker claims a run without knowing it. */
export const strategyOf = (agents: AgentRegistry, { strategy, options }: Claim): Strategy =>
  agents.strategies.find(options?.selection?.strategy ?? strategy);
