import { z } from 'zod';
import { explain } from '../tools/schema.ts';
import { measureSchema } from './schema-bounds.ts';
import { validator, type Answer } from './validator.ts';

/** The result of validating a value: as the schema reads it, or why it does not fit. */
export type Validated = { ok: true; value: unknown } | { ok: false; message: string };

export interface JsonSchemaValidator {
  /** Reads the schema. Rejects with an Error where that is impossible. */
  compile(): Promise<void>;
  /** @throws LanefoldError `validation_timeout` */
  validate(value: unknown): Promise<Validated>;
}

/**
 * Characters of a value times values of a schema that may be validated in this process: some milliseconds. Each value of
 * a schema without references to itself meets each part of the value at most once.
 */
const harmlessWork = 500_000;

/**
 * Validates against a JSON Schema that may be a stranger's: in this process where neither its patterns nor its size can hold
 * it up, else in a thread with a limit.
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
        ? { ok: true, value: JSON.parse(answer.value!) as unknown }
        : { ok: false, message: messageOf(answer) };
    },
  };
}

const messageOf = ({ issues, message }: Extract<Answer, { ok: false }>): string =>
  issues ? explain(Object.assign(new Error('does not fit'), { issues })) : message!;
