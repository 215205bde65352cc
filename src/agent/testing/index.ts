/**
 * Tests strategies in memory, without a database.
 *
 * @module testing
 */
export {
  simulate,
  type SimulatedCall,
  type SimulatedRun,
  type Simulation,
  crashEverywhere,
  type MemoryStore,
} from './simulate.ts';
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
export type { AnsweredRound, StoredAnswer, CompactionDraft, CompactionRequest } from '../strategies/records.ts';
