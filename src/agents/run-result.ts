import type { Json } from '../context/message.ts';
import type { Known, OptionResult, WithResult } from '../contracts/result-type.ts';
import type { ResultUnder } from '../strategies/types.ts';
import type { AgentDefinition } from './agent.ts';

/**
 * The result of a run of the agent NAME among AGENTS, whose request overrides the contract with OUT and the strategy with
 * CHOSEN, or neither (undefined, never).
 */
export type RunResult<AGENTS extends AgentDefinition, NAME extends string, OUT, CHOSEN> = [CHOSEN] extends [never]
  ? Contracted<AGENTS, NAME, OUT>
  : ResultUnder<CHOSEN, Contracted<AGENTS, NAME, OUT>>;

type Contracted<AGENTS extends AgentDefinition, NAME extends string, OUT> = [OUT] extends [undefined]
  ? AgentResult<Extract<AGENTS, { name: NAME }>>
  : OptionResult<OUT>;

export type AgentResult<AGENT> = [AGENT] extends [never] ? Json : AGENT extends WithResult<infer R> ? Known<R> : Json;
