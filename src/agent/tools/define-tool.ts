import type { JSONSchema7 } from '@ai-sdk/provider';
import { type FlexibleSchema, asSchema, jsonSchema, type Schema } from '@ai-sdk/provider-utils';
import type { JsonObject } from '../context/message.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import {
  checkTool,
  type NeedsApproval,
  type ToolReplay,
  type Tool,
  type ToolCallContext,
  type ToolLimits,
  invalidTool,
  type ToolValidation,
} from './tool.ts';
import { assertTimeout, waitFor, type WaitTimeout } from './wait.ts';

export interface ToolDefinition<
  ARGS,
  STATE extends object = JsonObject,
  CONTEXT extends object = JsonObject,
> extends ToolLimits {
  /** 1 to 64 characters of `[A-Za-z0-9_-]`. */
  name: string;
  description?: string;
  /**
   * Zod, Standard Schema, the AI SDK's `jsonSchema(...)`, or a JSON Schema, which describes the input without
   * validating it.
   */
  input: FlexibleSchema<ARGS> | JSONSchema7;
  execute: (args: NoInfer<ARGS>, ctx: ToolCallContext<STATE, CONTEXT>) => unknown;
  /** Default `safe`. */
  replay?: ToolReplay<NoInfer<ARGS>>;
  /** Whether the run waits until a human approves or denies the call, without occupying a worker; default false. */
  needsApproval?: NeedsApproval<NoInfer<ARGS>>;
  strict?: boolean;
}

const toolKeys: KeysOf<ToolDefinition<unknown>> = {
  name: true,
  description: true,
  input: true,
  execute: true,
  replay: true,
  needsApproval: true,
  strict: true,
  timeoutMs: true,
  maxRetries: true,
  retryBackoffMs: true,
  maxResultBytes: true,
};

/**
 * Defines a tool; the type of `args` follows from `input`. Annotate the second argument to declare the type of the
 * thread's state: `execute: (args, { state }: ToolCallContext<{ cart?: string[] }>) => …`.
 *
 * @throws LanefoldError `invalid_tool` for an invalid name, schema or limit
 *
 * @example
 * ```ts
 * import { defineAgent, defineTool } from 'lanefold';
 * import { z } from 'zod';
 *
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'Current weather of a city',
 *   input: z.object({ city: z.string() }),
 *   execute: ({ city }, { signal }) => (signal.aborted ? null : { city, celsius: 21 }),
 * });
 * defineAgent({ name: 'guide', model: 'scripted:demo', tools: [weather] });
 * ```
 */
export function defineTool<ARGS = JsonObject, STATE extends object = JsonObject, CONTEXT extends object = JsonObject>(
  definition: ToolDefinition<ARGS, STATE, CONTEXT>,
): Tool {
  refuseUnknownKeys(`Tool ${JSON.stringify(definition.name)}`, definition, toolKeys, 'invalid_tool');
  const { input, ...rest } = definition;
  const schema = readSchema(definition.name, input);
  // The schema validates the arguments before execute and verify get them, so the runtime need not know their type.
  return checkTool({
    replay: 'safe',
    ...rest,
    inputSchema: schema.jsonSchema,
    validate: schema.validate,
  } as unknown as Tool);
}

export interface ClientToolOptions<ARGS>
  extends WaitTimeout, Pick<ToolDefinition<ARGS>, 'name' | 'description' | 'input' | 'strict' | 'needsApproval'> {}

const keys: KeysOf<ClientToolOptions<unknown>> = {
  name: true,
  description: true,
  input: true,
  strict: true,
  needsApproval: true,
  timeoutMs: true,
};

/**
 * A tool that the client runs, such as one that reads the user's position or changes the page. The run is suspended until
 * the client has sent the result: see docs/reference/ag-ui.md.
 *
 * @throws LanefoldError `invalid_tool`, `invalid_input`
 *
 * @example
 * ```ts
 * import { clientTool, defineAgent } from 'lanefold';
 * import { z } from 'zod';
 *
 * const highlight = clientTool({
 *   name: 'highlight',
 *   description: 'Highlights a row of the table that the user sees.',
 *   input: z.object({ row: z.number() }),
 *   timeoutMs: 60_000,
 * });
 * defineAgent({ name: 'analyst', model: 'scripted:demo', tools: [highlight] });
 * ```
 */
export function clientTool<ARGS = JsonObject>(options: ClientToolOptions<ARGS>): Tool {
  refuseUnknownKeys('clientTool', options, keys);
  const { timeoutMs, ...tool } = options;
  assertTimeout(timeoutMs);
  return defineTool<ARGS>({
    ...tool,
    execute: (_, { idempotencyKey }) =>
      waitFor(`${clientEvents}${idempotencyKey}`, timeoutMs === undefined ? {} : { timeoutMs }),
  });
}

const clientEvents = 'client:';

/** Whether a call of a run waits for its client. */
export const waitsForClient = (
  runId: string,
  { event, round, index }: { event: string | null; round: number; index: number },
): boolean => event === `${clientEvents}${runId}:${round}:${index}`;

interface ReadSchema {
  jsonSchema: JSONSchema7;
  validate: (args: unknown) => Promise<ToolValidation>;
}

/** Reads a schema whose JSON Schema is available synchronously. @throws LanefoldError `invalid_tool` */
function readSchema(name: string, input: FlexibleSchema | JSONSchema7): ReadSchema {
  const { schema, described } = open(name, input);
  if (isPromise(described))
    throw invalidTool(name, 'has a JSON Schema that is a promise', 'Await it before defining the tool.');
  return { jsonSchema: described, validate: validator(schema) };
}

/** Reads a schema whose JSON Schema may be a promise, as in the AI SDK. @throws LanefoldError `invalid_tool` */
export async function readLazySchema(name: string, input: FlexibleSchema): Promise<ReadSchema> {
  const { schema, described } = open(name, input);
  try {
    return { jsonSchema: await described, validate: validator(schema) };
  } catch (error) {
    throw unreadable(name, error);
  }
}

function open(name: string, input: FlexibleSchema | JSONSchema7) {
  try {
    const schema = asSchema(isPlainJsonSchema(input) ? jsonSchema(input) : (input as FlexibleSchema));
    return { schema, described: schema.jsonSchema };
  } catch (error) {
    throw unreadable(name, error);
  }
}

const unreadable = (name: string, cause: unknown) =>
  invalidTool(
    name,
    'has an input schema that cannot be converted to JSON Schema',
    'Use a zod schema of JSON types, or a JSON Schema.',
    cause,
  );

// asSchema treats anything unknown as a function and calls it.
const isPlainJsonSchema = (input: unknown): input is JSONSchema7 =>
  typeof input === 'object' && input !== null && !('~standard' in input) && !('jsonSchema' in input);

const isPromise = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  typeof (value as { then?: unknown } | null)?.then === 'function';

function validator({ validate }: Schema): ReadSchema['validate'] {
  if (!validate) return async (value) => ({ ok: true, value });
  return async (args) => {
    const result = await validate(args);
    return result.success ? { ok: true, value: result.value } : { ok: false, message: explain(result.error) };
  };
}

type Issue = { message: string; path?: readonly unknown[] };

/** A one-line message the model can act on, because the message of a ZodError is indented JSON. */
export function explain(error: Error): string {
  const issues: unknown = 'issues' in error ? error.issues : error.cause;
  if (!Array.isArray(issues) || issues.length === 0) return error.message;
  return (issues as Issue[])
    .map(({ path = [], message }) => (path.length > 0 ? `${path.map(segment).join('.')}: ${message}` : message))
    .join('; ');
}

// A path segment of a Standard Schema is a key or `{ key }`.
const segment = (part: unknown): string =>
  String(typeof part === 'object' && part !== null && 'key' in part ? part.key : part);
