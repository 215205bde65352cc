import type { StrategyMachine } from '../strategies/machine.ts';

const defaultLimit = 10;

/** Maximum model calls of a run: set by the agent or the request, else the default of the strategy. */
export const iterationLimit = (agent: { maxIterations?: number | undefined }, machine?: StrategyMachine): number =>
  agent.maxIterations ?? machine?.maxIterations ?? defaultLimit;
