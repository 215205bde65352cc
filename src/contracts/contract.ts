import type { JSONSchema7 } from '@ai-sdk/provider';
import type { FlexibleSchema } from '@ai-sdk/provider-utils';
import type { JsonObject } from '../context/message.ts';

/** What the answer of a run must be: one JSON object of this schema. It becomes the run's `result`. */
export interface OutputContract {
  /** Of an object with properties: a zod or Standard Schema, `jsonSchema(…)` of the AI SDK, or a JSON Schema. */
  schema: FlexibleSchema | JSONSchema7;
  /** 1 to 64 characters of `[A-Za-z0-9_-]`, for the provider; default `output`. */
  name?: string;
  description?: string;
  /** `repair` (default): an answer that does not fit is sent to the model to be put right. `error`: it fails the run. */
  mode?: 'repair' | 'error';
  /** Repairs at most; default 1, more than 3 means 3. */
  maxRepairs?: number;
  /** Puts an answer right in place of the model; what it returns is validated. An agent's only: code is not stored. */
  repair?: (draft: RepairDraft) => unknown;
}

export interface RepairDraft {
  /** The run's user message, as text. */
  question: string;
  /** The whole answer of the model. */
  answer: string;
  /** What is wrong with it. */
  error: string;
  /** From 1. */
  attempt: number;
  signal: AbortSignal;
}

/** A contract, or none: `raw` leaves the answer as text, also where the agent has a contract. */
export type OutputOption = OutputContract | { mode: 'raw' } | 'raw';

/** A contract as a request's is stored. */
export interface StoredContract {
  schema: JsonObject;
  name?: string;
  description?: string;
  mode?: 'repair' | 'error';
  max_repairs?: number;
}

/** Whether an answer fits: its parsed value, or what is wrong with it. */
export type Checked = { ok: true; value: JsonObject } | { ok: false; message: string };

/** A contract made ready for work. */
export interface ReadyContract {
  readonly schema: JSONSchema7;
  readonly kind: 'standard_schema' | 'json_schema';
  readonly name: string;
  readonly description?: string;
  readonly mode: 'repair' | 'error';
  readonly maxRepairs: number;
  readonly repair?: OutputContract['repair'];
  /** What every model call is told. */
  readonly instructions: string;
  /** Reads the text of an answer. Never rejects. */
  check(answer: string): Promise<Checked>;
  /** Reads what a repair function returned. Never rejects. */
  checkValue(value: unknown): Promise<Checked>;
}
