import type { StrategyMachine } from '../strategies/machine.ts';

const defaultLimit = 10;

/** Maximum model calls of a run: as the agent or the request set it, else as the strategy needs. */
export const iterationLimit = (agent: { maxIterations?: number | undefined }, machine?: StrategyMachine): number =>
  agent.maxIterations ?? machine?.maxIterations ?? defaultLimit;
