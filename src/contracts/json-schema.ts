import { z } from 'zod';
import { explain } from '../tools/schema.ts';
import { measureSchema } from './schema-bounds.ts';
import { validator, type Answer } from './validator.ts';
import { parseJson } from '../common/json.ts';

/** The result of validating a value: the value as parsed by the schema, or why it does not match. */
export type Validated = { ok: true; value: unknown } | { ok: false; message: string };

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
