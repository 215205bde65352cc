/**
 * What authors of strategies need: define a strategy, and pass it to `defineAgent` or `createLanefold`.
 *
 * @module strategy
 */
export { defineStrategy, type InquiryMachine } from './inquiry/machine.ts';
export { quote } from './inquiry/quote.ts';
export type {
  OptionsOf,
  StrategyAnswer,
  StrategyCause,
  StrategyDefinition,
  StrategyEnding,
  StrategyProgress,
  StrategyQuestion,
  StrategyTurn,
} from './inquiry/inquiry.ts';
export type { AnsweredRound, StoredAnswer, StrategyNode } from './node.ts';
export type { StrategyDecision, StrategyEvent, StrategyMachine, StrategyState } from './machine.ts';
export type { RunError } from './run-error.ts';
export type { ContextRoom } from '../policy/room.ts';
export type { Strategy } from './registry.ts';
export type { ModelSettings } from '../models/settings/settings.ts';
