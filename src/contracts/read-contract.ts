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

/** Validates a contract defined in code, whose schema may be a promise. @throws LanefoldError `invalid_output` */
export async function readContract(contract: OutputContract): Promise<ReadyContract> {
  const { schema: given } = contract;
  if (given === undefined || given === null) throw invalid('schema is missing');
  let schema: Schema;
  let described: JSONSchema7;
  try {
    schema = asSchema(isJsonSchema(given) ? jsonSchema(given) : (given as FlexibleSchema));
    described = await schema.jsonSchema;
  } catch (error) {
    throw invalid('schema cannot be converted to a JSON Schema', error);
  }
  const standard = typeof given === 'object' && '~standard' in given;
  return ready(contract, described, standard ? 'standard_schema' : 'json_schema', schema.validate);
}

/** Validates a contract that was stored with a request. @throws LanefoldError `invalid_output` */
export const readStoredContract = ({ schema, max_repairs: maxRepairs, ...rest }: StoredContract): ReadyContract =>
  ready({ ...rest, schema, ...(maxRepairs === undefined ? {} : { maxRepairs }) }, schema as JSONSchema7, 'json_schema');

/** Converts a request's contract to its stored form, with a JSON Schema in place of the schema object. */
export async function toStoredContract(contract: OutputContract): Promise<StoredContract> {
  if (contract.repair) throw invalid('a request cannot have a repair function, because code is not stored');
  const { schema, name, description, mode, maxRepairs } = await readContract(contract);
  const stored: StoredContract = {
    schema: JSON.parse(JSON.stringify(schema)) as JsonObject,
    ...(contract.name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(contract.mode === undefined ? {} : { mode }),
    ...(contract.maxRepairs === undefined ? {} : { max_repairs: maxRepairs }),
  };
  // Fail here rather than in the worker that would have to read it.
  readStoredContract(stored);
  return stored;
}

/** Models that fail three repairs do not succeed at the fourth. */
const repairLimit = 3;

function ready(
  { name = 'output', description, mode = 'repair', maxRepairs = 1, repair }: OutputContract,
  schema: JSONSchema7,
  kind: ReadyContract['kind'],
  native?: Schema['validate'],
): ReadyContract {
  if (typeof schema !== 'object' || schema === null || schema.type !== 'object' || !isObject(schema.properties)) {
    throw invalid('schema must describe an object with properties');
  }
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw invalid('name must be 1 to 64 characters of [A-Za-z0-9_-]');
  }
  if (description !== undefined && typeof description !== 'string') throw invalid('description must be a string');
  if (mode !== 'repair' && mode !== 'error')
    throw invalid(`mode must be repair, error or raw; got ${JSON.stringify(mode)}`);
  if (!Number.isInteger(maxRepairs) || maxRepairs < 0) throw invalid('maxRepairs must be a whole number of at least 0');
  if (repair !== undefined && typeof repair !== 'function') throw invalid('repair must be a function');
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
    maxRepairs: Math.min(maxRepairs, repairLimit),
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
    throw invalid(
      `schema cannot be validated against: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
  return async (value) => {
    const result = await parser.safeParseAsync(value);
    return result.success ? { success: true, value: result.data } : { success: false, error: result.error };
  };
}

/** The value in the form the database stores. */
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

// asSchema treats anything unknown as a function and calls it.
const isJsonSchema = (given: unknown): given is JSONSchema7 =>
  isObject(given) && !('~standard' in given) && !('jsonSchema' in given);

const invalid = (why: string, cause?: unknown): LanefoldError =>
  new LanefoldError('invalid_output', `The output contract is invalid: ${why}.`, {
    hint: 'Pass { schema: z.object({ … }) }, a JSON Schema of an object, or "raw" for text.',
    ...(cause === undefined ? {} : { cause }),
  });
