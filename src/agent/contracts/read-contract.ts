import type { JSONSchema7 } from '@ai-sdk/provider';
import { asSchema, jsonSchema, type FlexibleSchema, type Schema } from '@ai-sdk/provider-utils';
import type { Json, JsonObject } from '../context/message.ts';
import { isLanefoldError, LanefoldError } from '../../base/errors.ts';
import { cleanJson, cleanText } from '../../base/checks/values.ts';
import { explain } from '../tools/define-tool.ts';
import {
  type Checked,
  type OutputContract,
  type ReadyContract,
  type StoredContract,
  outputInstructions,
  parseAnswer,
} from './contract.ts';
import { jsonSchemaValidator, type JsonSchemaValidator } from './json-schema.ts';
import { parseJson, isObject } from '../../base/common/json.ts';
import { represent } from '../tools/represent.ts';

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
  const contracted = ready(contract, described, standard ? 'standard_schema' : 'json_schema', schema.validate);
  if (!schema.validate) await assertReadable(described);
  return contracted;
}

/**
 * Validates a contract that was stored with a request. Its schema is compiled only when an answer is checked, because
 * that may take time. @throws LanefoldError `invalid_output`
 */
export const readStoredContract = ({ schema, max_repairs: maxRepairs, ...rest }: StoredContract): ReadyContract =>
  ready({ ...rest, schema, ...(maxRepairs === undefined ? {} : { maxRepairs }) }, schema as JSONSchema7, 'json_schema');

/** Converts a contract of a request to its stored form, with a JSON Schema in place of the schema object. */
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
  // Fail here rather than later in the worker that reads it.
  readStoredContract(stored);
  await assertReadable(stored.schema);
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
  const validate = native ? byCode(native) : validatorOf(schema).validate;
  const checkValue = async (value: unknown): Promise<Checked> => {
    try {
      const result = await validate(value);
      return result.ok ? { ok: true, value: toJson(result.value) } : { ok: false, message: shorten(result.message) };
    } catch (error) {
      const message = shorten(error instanceof Error ? error.message : String(error));
      return { ok: false, message, ...(isLanefoldError(error, 'validation_timeout') ? { timedOut: true } : {}) };
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

const byCode =
  (native: NonNullable<Schema['validate']>): JsonSchemaValidator['validate'] =>
  async (value) => {
    const result = await native(value);
    return result.success ? { ok: true, value: result.value } : { ok: false, message: explain(result.error) };
  };

function validatorOf(schema: object): JsonSchemaValidator {
  try {
    return jsonSchemaValidator(schema);
  } catch (error) {
    throw unreadable(error);
  }
}

async function assertReadable(schema: object): Promise<void> {
  await validatorOf(schema)
    .compile()
    .catch((error: unknown) => {
      throw unreadable(error);
    });
}

/** The value in the form the database stores. */
function toJson(value: unknown): JsonObject {
  const json = parseJson(JSON.stringify(represent(value)) ?? 'null') as Json;
  if (!isObject(json)) throw new Error('The validated value is not a JSON object.');
  return cleanJson(json as JsonObject).value;
}

const maxMessageChars = 2_000;

const shorten = (message: string): string =>
  cleanText(message.length <= maxMessageChars ? message : `${message.slice(0, maxMessageChars - 1)}…`);

// asSchema treats anything unknown as a function and calls it.
const isJsonSchema = (given: unknown): given is JSONSchema7 =>
  isObject(given) && !('~standard' in given) && !('jsonSchema' in given);

const unreadable = (cause: unknown): LanefoldError =>
  invalid(
    `schema cannot be used to validate an answer: ${cause instanceof Error ? cause.message : String(cause)}`,
    cause,
  );

const invalid = (why: string, cause?: unknown): LanefoldError =>
  new LanefoldError('invalid_output', `The output contract is invalid: ${why}.`, {
    hint: 'Pass { schema: z.object({ … }) }, a JSON Schema of an object, or "raw" for text.',
    ...(cause === undefined ? {} : { cause }),
  });
