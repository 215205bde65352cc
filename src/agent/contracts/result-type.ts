import type { InferSchema } from '@ai-sdk/provider-utils';
import type { Json, JsonObject } from '../context/message.ts';
import type { OutputOption, OutputSchema } from './contract.ts';

declare const result: unique symbol;

/** Carries the result type from an agent to its runs. It exists only for the compiler: no object has this key. */
export interface WithResult<RESULT> {
  readonly [result]?: RESULT;
}

/** The known type of a result; JSON if nothing is known. */
export type Known<RESULT> = unknown extends RESULT ? Json : RESULT;

/** The type of the results of an agent; JSON if it is not known at compile time. */
export type AgentResult<AGENT> = [AGENT] extends [never] ? Json : AGENT extends WithResult<infer R> ? Known<R> : Json;

/** The result under a contract with this schema. `never` means no contract: the result is text. */
export type SchemaResult<SCHEMA> = [SCHEMA] extends [never]
  ? string
  : OutputSchema extends SCHEMA
    ? Json
    : // a plain JSON Schema tells the compiler only that the result is an object
      [InferSchema<SCHEMA>] extends [never]
      ? JsonObject
      : Known<InferSchema<SCHEMA>>;

/** The result of a run whose request has this `output`. */
export type OptionResult<OUT> = OutputOption extends OUT
  ? Json
  : OUT extends 'raw' | { mode: 'raw' }
    ? string
    : OUT extends { schema: infer SCHEMA }
      ? SchemaResult<SCHEMA>
      : Json;
