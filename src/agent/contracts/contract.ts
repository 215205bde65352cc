import type { JSONSchema7 } from '@ai-sdk/provider';
import type { FlexibleSchema } from '@ai-sdk/provider-utils';
import type { JsonObject } from '../context/message.ts';

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
