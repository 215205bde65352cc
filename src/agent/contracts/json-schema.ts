import { z } from 'zod';
import { explain } from '../tools/schema.ts';
import { validator, type Answer } from './validator.ts';
import { parseJson } from '../../base/common/json.ts';

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

/** The target of a local reference (`#/$defs/a`); undefined if there is none, which the schema parser reports. */
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
