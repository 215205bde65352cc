import type { InferSchema } from '@ai-sdk/provider-utils';
import type { Json, JsonObject } from '../context/message.ts';
import type { OutputOption, OutputSchema } from './contract.ts';

declare const result: unique symbol;

/** Carries the type of a result from an agent to its runs. It exists for the compiler alone: no object has this key. */
export interface WithResult<RESULT> {
  readonly [result]?: RESULT;
}

/** What is known of a result: where nothing is, that it is JSON. */
export type Known<RESULT> = unknown extends RESULT ? Json : RESULT;

/** The result under a contract with this schema; `never` stands for no contract, and the result is text. */
export type SchemaResult<SCHEMA> = [SCHEMA] extends [never]
  ? string
  : OutputSchema extends SCHEMA
    ? Json
    : // a JSON Schema says no more to the compiler than that it is an object
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
