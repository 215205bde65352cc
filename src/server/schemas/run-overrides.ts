import type { z } from '@hono/zod-openapi';
import { runOptions, type RunOption } from '../../agent/definition/option-table.ts';
import { optionsWith, type OptionsWith } from '../../agent/definition/options.ts';
import { toSnakeCase, type SnakeCase } from '../../base/common/case.ts';
import { wireSchema, type WireSchema } from '../declared/wire-schema.ts';

type Options = typeof runOptions;

/** Options of runs as fields of a body. An agent must list those that override it as overridable. */
export const runFields = Object.fromEntries(
  Object.entries<RunOption>(runOptions).map(([name, { schema }]) => [toSnakeCase(name), wireSchema(schema.optional())]),
) as unknown as {
  [NAME in keyof Options as SnakeCase<NAME>]: z.ZodOptional<WireSchema<Options[NAME]['schema']>>;
};

type Fields = typeof runFields;

/** The fields of the options of which the table says `trait`. */
export const runFieldsWith = <const TRAIT extends Partial<RunOption>>(trait: TRAIT) =>
  Object.fromEntries(
    optionsWith(trait).map((name) => [toSnakeCase(name), runFields[toSnakeCase(name) as keyof Fields]]),
  ) as unknown as Pick<Fields, Extract<keyof Fields, SnakeCase<keyof OptionsWith<TRAIT> & string>>>;
