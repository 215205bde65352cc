import { z } from 'zod';
import { explain } from '../tools/define-tool.ts';
import { isObject, parseJson } from '../../base/common/json.ts';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { LanefoldError } from '../../base/errors.ts';
import { packageRoot } from '../../base/environment.ts';
import type { JSONSchema7 } from '@ai-sdk/provider';
import { after } from '../../base/common/timer.ts';

/** The size of a JSON Schema, and whether it has keywords that can take disproportionate time. */
interface SchemaSize {
  /** Number of JSON values, counting the target of a `$ref` at every reference; Infinity for a recursive schema. */
  values: number;
  /** Whether it has a pattern or a format, which are regular expressions, or compares list items with each other. */
  patterns: boolean;
}

/**
 * Maximum characters of a schema, depth of its JSON, length of a chain of `$ref`s, and values with every `$ref`
 * followed. The last limit does not apply to recursive schemas.
 */
export const schemaLimits = { characters: 2 ** 18, depth: 64, refs: 64, values: 20_000 };

const slowKeywords = ['pattern', 'patternProperties', 'format', 'uniqueItems', 'contentMediaType', 'contentEncoding'];

/**
 * Measures a JSON Schema in time proportional to its text. If it is not acceptable, returns the reason, as the end of a
 * sentence.
 */
export function measureSchema(schema: unknown): SchemaSize | string {
  const tooDeep = `schema is nested more than ${schemaLimits.depth} levels deep`;
  let text: string;
  try {
    text = JSON.stringify(schema);
  } catch (error) {
    return error instanceof RangeError ? tooDeep : 'schema is not JSON';
  }
  if (text.length > schemaLimits.characters)
    return `schema has ${text.length} characters, more than ${schemaLimits.characters}`;
  const patterns = slowKeywords.some((keyword) => text.includes(`"${keyword}":`));
  const known = new Map<object, number>();
  const open = new Set<object>();
  let fault: string | undefined;

  const valuesIn = (node: unknown, depth: number, refs: number): number => {
    if (typeof node !== 'object' || node === null) return 1;
    const before = known.get(node);
    if (before !== undefined) return before;
    if (open.has(node)) return Infinity;
    if (depth > schemaLimits.depth) fault = tooDeep;
    if (refs > schemaLimits.refs) fault = `schema has a chain of more than ${schemaLimits.refs} $refs`;
    if (fault) return 1;
    open.add(node);
    let values = 1;
    for (const child of Object.values(node)) values += valuesIn(child, depth + 1, refs);
    const ref = (node as { $ref?: unknown }).$ref;
    if (typeof ref === 'string') values += valuesIn(resolve(schema, ref), 0, refs + 1);
    open.delete(node);
    known.set(node, values);
    return values;
  };

  const values = valuesIn(schema, 0, 0);
  if (fault) return fault;
  if (Number.isFinite(values) && values > schemaLimits.values)
    return `schema has more than ${schemaLimits.values} values once every $ref is followed`;
  return { values, patterns };
}

/** The target of a local reference (`#/$defs/a`); undefined if it does not exist, which the schema parser reports. */
function resolve(root: unknown, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined;
  let node: unknown = root;
  for (const part of ref.slice(1).split('/').slice(1)) {
    if (typeof node !== 'object' || node === null) return undefined;
    node = (node as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return node;
}

/** The result of validating a value: the value as parsed by the schema, or why it does not match. */
type Validated = { ok: true; value: unknown } | { ok: false; message: string };

export interface JsonSchemaValidator {
  /** Reads the schema. Rejects with an Error if that fails. */
  compile(): Promise<void>;
  /** @throws LanefoldError `validation_timeout` */
  validate(value: unknown): Promise<Validated>;
}

/**
 * Largest product of the characters of a value and the values of a schema that is validated in this process: takes some
 * milliseconds. In a schema without recursion, each value of the schema meets each part of the value at most once.
 */
const harmlessWork = 500_000;

/**
 * Validates against a JSON Schema, which may be untrusted: in this process if neither its patterns nor its size can
 * block it, else in a thread with a time limit.
 *
 * @throws Error for a schema that is too large
 */
export function jsonSchemaValidator(schema: object): JsonSchemaValidator {
  const size = measureSchema(schema);
  if (typeof size === 'string') throw new Error(size);
  const text = JSON.stringify(schema);
  let parser: z.ZodType | undefined;
  const parse = () => (parser ??= z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]));
  const isHarmless = (characters: number) => !size.patterns && size.values * characters <= harmlessWork;

  return {
    async compile() {
      if (isHarmless(1)) return void parse();
      const answer = await validator.ask({ schema: text });
      if (!answer.ok) throw new Error(messageOf(answer));
    },
    async validate(value) {
      const json = JSON.stringify(value) ?? 'null';
      if (isHarmless(json.length)) {
        const result = parse().safeParse(value);
        return result.success ? { ok: true, value: result.data } : { ok: false, message: explain(result.error) };
      }
      const answer = await validator.ask({ schema: text, value: json });
      return answer.ok
        ? { ok: true, value: parseJson(answer.value!) as unknown }
        : { ok: false, message: messageOf(answer) };
    },
  };
}

const messageOf = ({ issues, message }: Extract<Answer, { ok: false }>): string =>
  issues ? explain(Object.assign(new Error('does not match'), { issues })) : message!;

/** A schema and a value, as JSON; without a value, the schema is only read. */
interface Question {
  schema: string;
  value?: string;
}

/** `message` is set if the schema cannot be read or the value is not JSON. */
type Answer =
  | { ok: true; value?: string }
  | { ok: false; issues?: { path: (string | number)[]; message: string }[]; message?: string };

/** How long the thread may work on one question, in ms: a thousand times what an ordinary one takes. */
const validationLimitMs = 1_000;

const startLimitMs = 15_000;
const memoryMb = 128;

/**
 * Validates values against schemas in a thread, which is terminated if that takes too much time or memory: no pattern
 * and no combination of `$ref`s can block this process. The first question starts the thread; it then answers questions
 * one at a time, and does not keep the process alive.
 */
class Validator {
  #thread: Promise<Worker> | undefined;
  readonly #inTurn = pLimit(1);

  /** @throws LanefoldError `validation_timeout` */
  ask(question: Question): Promise<Answer> {
    return this.#inTurn(async () => {
      const thread = await (this.#thread ??= this.#start());
      thread.ref();
      try {
        return await replyOf<Answer>(thread, validationLimitMs, () => thread.postMessage(question));
      } catch (error) {
        this.#thread = undefined;
        await thread.terminate();
        throw tooSlow(error);
      } finally {
        thread.unref();
      }
    });
  }

  async #start(): Promise<Worker> {
    const thread = new Worker(path.join(packageRoot, 'src/agent/contracts/validator-thread.js'), {
      // the options of this process, such as a TypeScript loader, are not for the thread
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, stackSizeMb: 4 },
    });
    try {
      await replyOf(thread, startLimitMs);
      // the thread may exit between two questions
      thread.once('exit', () => (this.#thread = undefined)).on('error', () => {});
      return thread;
    } catch (error) {
      this.#thread = undefined;
      throw error;
    }
  }
}

/** The next message of a thread. Rejects if the thread exits or stays silent for `limitMs`. */
function replyOf<Reply>(thread: Worker, limitMs: number, ask?: () => void): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      timer.cancel();
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
    };
    const onMessage = (reply: Reply) => {
      settle();
      resolve(reply);
    };
    const onError = (error: Error) => {
      settle();
      reject(error);
    };
    const onExit = () => onError(new Error('The validation thread exited.'));
    const timer = after(limitMs, () => onError(new Error(`It took longer than ${limitMs} ms.`)));
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    ask?.();
  });
}

const tooSlow = (cause: unknown) =>
  new LanefoldError('validation_timeout', 'Validating against the output schema takes too much time or memory.', {
    hint: 'Simplify the schema, especially its patterns and nested references.',
    cause,
  });

const validator = new Validator();

/**
 * Unwraps `object` from the result of a call that generates one, such as the `generateObject` of the AI SDK. Returns
 * any other value unchanged, also if the schema itself has a property `object`.
 */
export function unwrapObject(value: unknown, schema: JSONSchema7): unknown {
  if (typeof value !== 'object' || value === null || !('object' in value)) return value;
  if (Object.hasOwn(schema.properties ?? {}, 'object')) return value;
  const { object } = value;
  return isObject(object) ? object : value;
}
