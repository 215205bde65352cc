import type { JSONSchema7 } from '@ai-sdk/provider';
import { asSchema, jsonSchema, type FlexibleSchema, type Schema } from '@ai-sdk/provider-utils';
import { invalidTool } from './check-tool.ts';
import type { ToolValidation } from './tool.ts';

interface ReadSchema {
  jsonSchema: JSONSchema7;
  validate: (args: unknown) => Promise<ToolValidation>;
}

/** Reads a schema whose JSON Schema is available synchronously. @throws LanefoldError `invalid_tool` */
export function readSchema(name: string, input: FlexibleSchema | JSONSchema7): ReadSchema {
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
