import type { JSONSchema7 } from '@ai-sdk/provider';
import type { FlexibleSchema, InferSchema } from '@ai-sdk/provider-utils';
import type { JsonObject, Json } from '../context/message.ts';
import { readJson } from '../../base/common/json.ts';

/** The schema of an object: zod, Standard Schema, the AI SDK's `jsonSchema(…)`, or JSON Schema. */
export type OutputSchema = FlexibleSchema | JSONSchema7;

/**
 * Requires the answer of a run to be one JSON object that matches this schema. The object becomes the `result` of the
 * run.
 */
export interface OutputContract<SCHEMA extends OutputSchema = OutputSchema> {
  /** The schema of an object with properties: zod, Standard Schema, the AI SDK's `jsonSchema(…)`, or JSON Schema. */
  schema: SCHEMA;
  /** Sent to the provider: 1 to 64 characters of `[A-Za-z0-9_-]`; default `output`. */
  name?: string;
  description?: string;
  /**
   * What to do with an answer that violates the contract. `repair` (default) asks the model to fix it; `error` fails
   * the run.
   */
  mode?: 'repair' | 'error';
  /** Maximum number of repairs, 0 to 3; default 1. Higher values count as 3. */
  maxRepairs?: number;
  /**
   * Repairs an answer instead of the model. Its return value, or the `object` in it, is validated. Only for agents,
   * because requests cannot store code.
   */
  repair?: (draft: RepairDraft) => unknown;
}

export interface RepairDraft {
  /** The run's user message, as text. */
  question: string;
  /** The model's complete answer. */
  answer: string;
  /** Why the answer violates the contract. */
  error: string;
  /** 1 for the first repair. */
  attempt: number;
  signal: AbortSignal;
}

/** A contract, or `raw`, which keeps the answer as text even if the agent has a contract. */
export type OutputOption = OutputContract | { mode: 'raw' } | 'raw';

/** The stored form of a request's contract. */
export interface StoredContract {
  schema: JsonObject;
  name?: string;
  description?: string;
  mode?: 'repair' | 'error';
  max_repairs?: number;
}

/**
 * The result of checking an answer: its parsed value, or why it violates the contract. `timedOut`: the check was
 * cancelled after its time limit; the check of another answer would be too.
 */
export type Checked = { ok: true; value: JsonObject } | { ok: false; message: string; timedOut?: true };

/** A validated contract with its checks. */
export interface ReadyContract {
  readonly schema: JSONSchema7;
  readonly kind: 'standard_schema' | 'json_schema';
  readonly name: string;
  readonly description?: string;
  readonly mode: 'repair' | 'error';
  readonly maxRepairs: number;
  readonly repair?: OutputContract['repair'];
  /** Appended to the system prompt of every model call. */
  readonly instructions: string;
  /** Checks the text of an answer. Never rejects. */
  check(answer: string): Promise<Checked>;
  /** Checks the return value of a repair function. Never rejects. */
  checkValue(value: unknown): Promise<Checked>;
}

/** The end of the system prompt of every model call of a run with a contract. Sent, never stored in the log. */
export function outputInstructions(schema: JSONSchema7, description: string | undefined): string {
  return [
    'Give your final answer as a single JSON object and nothing else: no code fences, no words before or after it.',
    ...(description ? [`The object is: ${description}`] : []),
    'It must fit this JSON Schema:',
    JSON.stringify(schema, null, 2),
  ].join('\n');
}

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

type Parsed = { ok: true; value: JsonObject } | { ok: false; message: string };

const fenced = /^```[\w-]*[ \t]*\r?\n([^]*?)\r?\n?```$/;

/** The text without the code fence around the whole of it, and without white space at its ends. */
export function withoutFence(text: string): string {
  const trimmed = text.trim();
  return fenced.exec(trimmed)?.[1] ?? trimmed;
}

/**
 * Parses an answer as one JSON object. A code fence around the whole answer is removed; any other text around the
 * object makes the answer invalid.
 */
export function parseAnswer(text: string): Parsed {
  const read = readJson(withoutFence(text));
  if (!read.ok)
    return { ok: false, message: read.kind === 'syntax' ? `The answer is not JSON: ${read.problem}` : read.problem };
  const value = read.value as Json;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    const what = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
    return { ok: false, message: `The answer is ${what}, not a JSON object.` };
  }
  return { ok: true, value };
}
