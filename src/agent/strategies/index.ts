/**
 * What authors of strategies need: define a strategy, and pass it to `defineAgent` or `createLanefold`.
 *
 * @module strategy
 */
export { defineStrategy, type InquiryMachine } from './inquiry/machine.ts';
export { quote } from './inquiry/conversation.ts';
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
export type { AnsweredRound, StoredAnswer, StrategyNode, RunError } from './records.ts';
export type { StrategyDecision, StrategyEvent, StrategyMachine, StrategyState } from './machine.ts';
export type { ContextRoom } from '../policy/policy.ts';
export type { Strategy } from './registry.ts';
export type { ModelSettings } from '../models/settings.ts';
