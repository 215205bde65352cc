/**
 * Tests strategies in memory, without a database.
 *
 * @module testing
 */
export { simulate, type SimulatedCall, type SimulatedRun, type Simulation } from './simulate.ts';
export { crashEverywhere } from './crash-everywhere.ts';
export type { MemoryStore } from './memory-store.ts';
export type {
  CallOutcome,
  EntryDraft,
  EventDraft,
  MarkedMessage,
  RunFacts,
  RunQuestion,
  SpentSoFar,
  StepDraft,
  StrategyState,
} from '../strategies/machine.ts';
export type { CompactionDraft, CompactionRequest } from '../strategies/compaction/types.ts';
export type { AnsweredRound, StoredAnswer } from '../strategies/node.ts';
