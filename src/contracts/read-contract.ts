import type { JSONSchema7 } from '@ai-sdk/provider';
import { asSchema, jsonSchema, type FlexibleSchema, type Schema } from '@ai-sdk/provider-utils';
import { z } from 'zod';
import type { Json, JsonObject } from '../context/message.ts';
import { LanefoldError } from '../errors.ts';
import { cleanJson, cleanText } from '../text.ts';
import { explain } from '../tools/schema.ts';
import type { Checked, OutputContract, ReadyContract, StoredContract } from './contract.ts';
import { outputInstructions } from './instructions.ts';
import { parseAnswer } from './parse-answer.ts';

/** Reads a contract of code, whose schema may still be on its way. @throws LanefoldError `invalid_output` */
export async function readContract(contract: OutputContract): Promise<ReadyContract> {
  const { schema: given } = contract;
  if (given === undefined || given === null) throw invalid('it has no schema');
  let schema: Schema;
  let described: JSONSchema7;
  try {
    schema = asSchema(isJsonSchema(given) ? jsonSchema(given) : (given as FlexibleSchema));
    described = await schema.jsonSchema;
  } catch (error) {
    throw invalid('its schema is nothing a JSON Schema can be made of', error);
  }
  const standard = typeof given === 'object' && '~standard' in given;
  return ready(contract, described, standard ? 'standard_schema' : 'json_schema', schema.validate);
}

/** Reads a contract that was stored with a request. @throws LanefoldError `invalid_output` */
export const readStoredContract = ({ schema, max_repairs: maxRepairs, ...rest }: StoredContract): ReadyContract =>
  ready({ ...rest, schema, ...(maxRepairs === undefined ? {} : { maxRepairs }) }, schema as JSONSchema7, 'json_schema');

/** The stored form of a request's contract: a schema of code becomes the JSON Schema of it. */
export async function toStoredContract(contract: OutputContract): Promise<StoredContract> {
  if (contract.repair) throw invalid('a request cannot carry a repair function');
  const { schema, name, description, mode, maxRepairs } = await readContract(contract);
  const stored: StoredContract = {
    schema: JSON.parse(JSON.stringify(schema)) as JsonObject,
    ...(contract.name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(contract.mode === undefined ? {} : { mode }),
    ...(contract.maxRepairs === undefined ? {} : { max_repairs: maxRepairs }),
  };
  // what a worker could not read must not get in
  readStoredContract(stored);
  return stored;
}

/** More than this repairs nothing that the first ones did not. */
const mostRepairs = 3;

function ready(
  { name = 'output', description, mode = 'repair', maxRepairs = 1, repair }: OutputContract,
  schema: JSONSchema7,
  kind: ReadyContract['kind'],
  native?: Schema['validate'],
): ReadyContract {
  if (typeof schema !== 'object' || schema === null || schema.type !== 'object' || !isObject(schema.properties)) {
    throw invalid('its schema is not of an object with properties');
  }
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw invalid('its name is not 1 to 64 characters of [A-Za-z0-9_-]');
  }
  if (description !== undefined && typeof description !== 'string') throw invalid('its description is no text');
  if (mode !== 'repair' && mode !== 'error')
    throw invalid(`its mode ${JSON.stringify(mode)} is not repair, error or raw`);
  if (!Number.isInteger(maxRepairs) || maxRepairs < 0) throw invalid('its maxRepairs is not a whole number from 0');
  if (repair !== undefined && typeof repair !== 'function') throw invalid('its repair is no function');
  const validate = native ?? jsonSchemaValidator(schema);
  const checkValue = async (value: unknown): Promise<Checked> => {
    try {
      const result = await validate(value);
      if (result.success) return { ok: true, value: toJson(result.value) };
      return { ok: false, message: shorten(explain(result.error)) };
    } catch (error) {
      return { ok: false, message: shorten(error instanceof Error ? error.message : String(error)) };
    }
  };
  return {
    schema,
    kind,
    name,
    ...(description === undefined ? {} : { description }),
    mode,
    maxRepairs: Math.min(maxRepairs, mostRepairs),
    ...(repair ? { repair } : {}),
    instructions: outputInstructions(schema, description),
    checkValue,
    async check(answer) {
      const parsed = parseAnswer(answer);
      return parsed.ok ? checkValue(parsed.value) : { ok: false, message: shorten(parsed.message) };
    },
  };
}

function jsonSchemaValidator(schema: JSONSchema7): NonNullable<Schema['validate']> {
  let parser: z.ZodType;
  try {
    parser = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    throw invalid(`its schema cannot be checked: ${error instanceof Error ? error.message : String(error)}`, error);
  }
  return async (value) => {
    const result = await parser.safeParseAsync(value);
    return result.success ? { success: true, value: result.data } : { success: false, error: result.error };
  };
}

/** The value as the database keeps it. */
function toJson(value: unknown): JsonObject {
  const json = JSON.parse(JSON.stringify(value) ?? 'null') as Json;
  if (!isObject(json)) throw new Error('The validated value is not a JSON object.');
  return cleanJson(json as JsonObject).value;
}

const maxMessageChars = 2_000;

const shorten = (message: string): string =>
  cleanText(message.length <= maxMessageChars ? message : `${message.slice(0, maxMessageChars - 1)}…`);

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// asSchema takes anything it does not know for a function and calls it.
const isJsonSchema = (given: unknown): given is JSONSchema7 =>
  isObject(given) && !('~standard' in given) && !('jsonSchema' in given);

const invalid = (why: string, cause?: unknown): LanefoldError =>
  new LanefoldError('invalid_output', `The output contract cannot be used: ${why}.`, {
    hint: 'Give { schema: z.object({ … }) } or the JSON Schema of an object, or "raw" for text.',
    ...(cause === undefined ? {} : { cause }),
  });
