import type { AgentResult, OptionResult } from '../contracts/result-type.ts';
import type { ResultUnder } from '../strategies/types.ts';
import type { AgentDefinition } from './definition.ts';

/**
 * The result type of a run of the agent NAME among AGENTS. OUT is the `output` of its request and CHOSEN the strategy
 * it names; without overrides they are `undefined` and `never`.
 */
export type RunResult<AGENTS extends AgentDefinition, NAME extends string, OUT, CHOSEN> = [CHOSEN] extends [never]
  ? Contracted<AGENTS, NAME, OUT>
  : ResultUnder<CHOSEN, Contracted<AGENTS, NAME, OUT>>;

type Contracted<AGENTS extends AgentDefinition, NAME extends string, OUT> = [OUT] extends [undefined]
  ? AgentResult<Extract<AGENTS, { name: NAME }>>
  : OptionResult<OUT>;
