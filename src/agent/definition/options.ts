import { z } from 'zod';
import { toSnakeCase, type SnakeCase } from '../../base/common/case.ts';
import { LanefoldError } from '../../base/errors.ts';
import { runOptions, type RunOption } from './option-table.ts';

type Options = typeof runOptions;
export type RunOptionName = keyof Options;

type Value<OPTION> = OPTION extends { schema: z.ZodType<infer VALUE> } ? VALUE : never;

/** The options of which the table says TRAIT, with their values. */
export type OptionsWith<TRAIT> = {
  [NAME in keyof Options as Options[NAME] extends TRAIT ? NAME : never]?: Value<Options[NAME]>;
};

/** The options that `run.options` keeps as they are given. */
export type StoredAsGiven = {
  [NAME in keyof Options as Options[NAME] extends { stored: true } ? SnakeCase<NAME> : never]?: Value<Options[NAME]>;
};

/** The names of the options of which the table says `trait`. */
export const optionsWith = <const TRAIT extends Partial<RunOption>>(trait: TRAIT): (keyof OptionsWith<TRAIT>)[] =>
  (Object.entries(runOptions) as [never, RunOption][]).flatMap(([name, option]) =>
    Object.entries(trait).every(([key, value]) => option[key as keyof RunOption] === value) ? [name] : [],
  );

/** The options of which the table says `trait`, as fields of a schema. */
export const optionFields = <const TRAIT extends Partial<RunOption>>(trait: TRAIT) =>
  Object.fromEntries(
    optionsWith(trait).map((name) => [name, (runOptions[name] as RunOption).schema.optional()]),
  ) as unknown as {
    [NAME in keyof OptionsWith<TRAIT> & RunOptionName]: z.ZodOptional<Options[NAME]['schema']>;
  };

/** For `refuseUnknownKeys`: these names as keys. */
export const asKeys = <NAME extends string>(names: readonly NAME[]): Record<NAME, true> =>
  Object.fromEntries(names.map((name) => [name, true])) as Record<NAME, true>;

const storedAsGiven = optionsWith({ stored: true });

/** The given options that are stored as they are, by the names under which they are stored. */
export const asStored = (given: OptionsWith<{ stored: true }>): StoredAsGiven =>
  Object.fromEntries(
    storedAsGiven.flatMap((name) =>
      (given[name] ?? undefined) === undefined ? [] : [[toSnakeCase(name), given[name]]],
    ),
  );

/**
 * What is wrong with the value of an option; undefined if it may be right. Only numbers, switches and choices are checked
 * here: what else is right depends on the agents and models of the process.
 */
export function problemOf(name: RunOptionName, value: unknown): string | undefined {
  const { schema, must = formOf(schema) }: RunOption = runOptions[name];
  if (value === undefined || must === undefined || schema.safeParse(value).success) return undefined;
  return `${must}; got ${JSON.stringify(value)}`;
}

/** Checks the options of a request of which the table alone says what is right. @throws LanefoldError `invalid_input` */
export function checkOptions(given: OptionsWith<object>): void {
  for (const name of Object.keys(runOptions) as RunOptionName[]) {
    const problem = problemOf(name, given[name]);
    const { hint = 'Omit it to use the agent’s own.' }: RunOption = runOptions[name];
    if (problem !== undefined) throw new LanefoldError('invalid_input', `${name} ${problem}.`, { hint });
  }
}

function formOf(schema: z.ZodType): string | undefined {
  if (schema instanceof z.ZodBoolean) return 'must be true or false';
  if (schema instanceof z.ZodEnum) return `must be ${schema.options.join(' or ')}`;
  if (!(schema instanceof z.ZodNumber)) return undefined;
  const { minValue, maxValue } = schema;
  return `must be a whole number ${maxValue === Number.MAX_SAFE_INTEGER ? `of at least ${minValue}` : `from ${minValue} to ${maxValue}`}`;
}
