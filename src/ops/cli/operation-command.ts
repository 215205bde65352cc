import { InvalidArgumentError, Option, type Command } from 'commander';
import type { z } from 'zod';
import { omitUndefined } from '../../base/common/json.ts';
import { argumentsOf, optionsOf, type Noun, type Operation } from '../../base/operations/operation.ts';
import { rangeOf } from '../../base/operations/checked.ts';
import { toWire } from '../../base/operations/wire.ts';
import type { Lanefold } from '../../lanefold/lanefold.ts';
import type { LanefoldDefinition } from '../../lanefold/definition.ts';
import { actor, duration, parseJsonObject, wholeNumber, type ConnectionOptions } from './options.ts';
import { commandHelp, type Variable } from './help.ts';
import { printJson } from './output.ts';
import { subcommand, withLanefold } from './connect.ts';

/** What the library answers. */
type AnswerOf<Part, Name> = Part extends keyof Lanefold
  ? Name extends keyof Lanefold[Part]
    ? Lanefold[Part][Name] extends (...args: never[]) => Promise<infer Answer>
      ? Answer
      : never
    : never
  : never;

interface Followed {
  lanefold: Lanefold;
  /** The first argument. */
  id: string;
  flags: Record<string, unknown>;
}

interface OperationCommand<Answer> {
  /** Default: the name of the method. */
  name?: string;
  summary: string;
  /** Default: the summary. */
  description?: string;
  examples: string[];
  /** Variables that it reads beside those of the database. */
  environment?: readonly Variable[];
  /** What the arguments are, if not "name of the webhook" or the like. */
  arguments?: string[];
  /** The text of flags whose description in the API is not for the command line. */
  flags?: Record<string, string>;
  /** Fields that are no flags. Options of the library alone are flags if `flags` says what they are. */
  without?: readonly string[];
  /** Defaults of flags that differ from those of the operation. */
  defaults?: Record<string, unknown>;
  /** More flags and arguments, and the fields of the body that they set. */
  more?: {
    add: (command: Command) => Command;
    fields?: (flags: Record<string, unknown>, args: readonly unknown[]) => object;
  };
  /** What the process must know, from its flags. */
  knows?: (flags: Record<string, unknown>) => Promise<LanefoldDefinition>;
  /** Warns of what the operation accepts and may not be meant. */
  warn?: (lanefold: Lanefold, flags: Record<string, unknown>) => Promise<void>;
  /** false: if no database is configured or running, it fails instead of starting one. */
  start?: false;
  /** Default: the answer as the API has it. */
  json?: (answer: Answer, ...given: string[]) => object;
  /** Shows the answer to people. */
  show?: (answer: Answer, ...given: string[]) => void;
  /** Does more with the answer than to show it. */
  follow?: (answer: Answer, given: Followed) => Promise<void> | void;
}

/** A command that calls an operation. Its flags come from the declaration: the options and the fields of the definition. */
export function operationCommand<Part extends string, Methods extends string, Name extends Methods>(
  group: Command,
  noun: Noun<Part, Methods>,
  method: Name,
  told: OperationCommand<AnswerOf<Part, Name>>,
): Command {
  const operation = noun.operations[method];
  const { flags = {}, defaults = {}, environment = [], examples, json, show, follow } = told;
  const thing = group.name().replace(/s$/, '');
  const command = subcommand(group, told.name ?? method, told.summary);
  if (told.description !== undefined) command.description(told.description);
  const places = argumentsOf(operation).flatMap((argument) => {
    if (argument.kind === 'run') return ['<thread>', '<run>'];
    if (argument.kind === 'param') return [`<${flagName(argument.name)}>`];
    if (argument.kind !== 'field') return [];
    // what may be null may be left out
    return [argument.schema.safeParse(null).success ? `[${argument.name}]` : `<${flagName(argument.name)}>`];
  });
  places.forEach((place, i) =>
    command.argument(place, told.arguments?.[i] ?? `${place.replaceAll(/[[\]<>]/g, '')} of the ${thing}`),
  );
  const { options, fields } = fieldsOf(operation, told);
  for (const [name, schema] of Object.entries({ ...options, ...fields }))
    command.addOption(flagFor(name, schema, flags[name], defaults[name]));
  told.more?.add(command);
  command.addHelpText('after', commandHelp(examples, ['DATABASE_URL', 'LANEFOLD_DIR', ...environment]));
  return command.action(async (...args: unknown[]) => {
    const given = args.at(-2) as Record<string, unknown> & ConnectionOptions & { json?: boolean };
    const ids = args.slice(0, places.length) as string[];
    const texts = [...ids];
    const [id = ''] = ids;
    const call = argumentsOf(operation).map(({ kind }) => {
      if (kind === 'run') return { threadId: texts.shift(), id: texts.shift() };
      const more = () => told.more?.fields?.(given, args.slice(places.length, -2));
      if (kind === 'body') return { ...valuesOf(fields, given), ...more() };
      if (kind === 'options') {
        const by = operation.own && 'by' in operation.own ? { by: actor() } : {};
        return { ...valuesOf(options, given), ...(operation.bodyIs === 'options' ? more() : {}), ...by };
      }
      return texts.shift() ?? null;
    });
    const { databaseUrl, redisUrl, dir } = given;
    const act = async (lanefold: Lanefold) => {
      await told.warn?.(lanefold, given);
      const methods = lanefold[noun.part as 'webhooks'] as unknown as Record<string, (...args: unknown[]) => unknown>;
      const answer = (await methods[method]!(...call)) as AnswerOf<Part, Name>;
      if (follow) return follow(answer, { lanefold, id, flags: given });
      if (given.json) printJson(json ? json(answer, ...ids) : asData(operation, answer));
      else show?.(answer, ...ids);
    };
    const { start = true, knows } = told;
    await withLanefold(omitUndefined({ databaseUrl, redisUrl, dir }) as ConnectionOptions, act, {
      start,
      ...(await knows?.(given)),
    });
  });
}

/** An answer as the API has it. */
function asData({ answer: { schema } }: Operation, answer: unknown): object {
  if (!schema) return {};
  const data = toWire(schema, answer) as object;
  return Array.isArray(data) ? { data } : data;
}

type Fields = Record<string, z.ZodType>;

function fieldsOf(
  operation: Operation,
  { flags = {}, without = [] }: Pick<OperationCommand<never>, 'flags' | 'without'>,
): { options: Fields; fields: Fields } {
  const { body, bodyIs, own } = operation;
  const isFlag = (name: string) => !without.includes(name) && !(own && name in own && !(name in flags));
  const kept = (fields: Fields) => Object.fromEntries(Object.entries(fields).filter(([name]) => isFlag(name)));
  const fields = body && bodyIs !== 'options' ? (body as unknown as { shape: Fields }).shape : {};
  return { options: kept(optionsOf(operation)), fields: kept(fields) };
}

/** The values of fields among the flags. */
export const valuesOf = (fields: Fields, given: Record<string, unknown>): object =>
  omitUndefined(Object.fromEntries(Object.keys(fields).map((name) => [name, given[flagName(name)]])));

/** `--keep` for `keepMs`, `--start` for `startAt`, `--case` for `caseIds`: the value says its unit. */
const flagName = (field: string): string => field.replace(/(?<=[a-z])(Ms|At|Ids?)$/, '');

const dashed = (flag: string): string => flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export function flagFor(name: string, schema: z.ZodType, text: string | undefined, fallback: unknown): Option {
  const { description = '' } = schema.meta() ?? {};
  const optional = schema.type === 'optional';
  const value = (optional ? (schema as z.ZodOptional).unwrap() : schema) as z.ZodType;
  const flag = flagName(name);
  const said = text ?? forPeople(description || (value.meta()?.description ?? ''));
  const option = new Option(`--${dashed(flag)}${placeholder(name, flag, value)}`, said).makeOptionMandatory(!optional);
  const choices = choicesOf(value.type === 'array' ? ((value as z.ZodArray).element as z.ZodType) : value);
  if (choices) option.choices(choices);
  const parse = parserOf(name, value);
  if (parse) option.argParser(parse);
  return fallback === undefined ? option : option.default(fallback);
}

const choicesOf = (schema: z.ZodType): readonly string[] | undefined =>
  schema.type === 'enum' ? ((schema as z.ZodEnum).options as string[]) : undefined;

function placeholder(name: string, flag: string, schema: z.ZodType): string {
  if (schema.type === 'boolean') return '';
  if (schema.type === 'date') return ' <time>';
  if (schema.type === 'custom') return ' <json>';
  if (schema.type === 'number' && !(schema as z.ZodNumber).isInt) return ' <number>';
  if (schema.type === 'number') return name.endsWith('Ms') ? ' <duration>' : ' <count>';
  if (schema.type === 'array') return ` <${flag}...>`;
  if (name === 'after') return ' <cursor>';
  return name === flag ? ` <${dashed(flag)}>` : ' <id>';
}

function parserOf(name: string, schema: z.ZodType): ((text: string) => unknown) | undefined {
  if (schema.type === 'date') return time;
  if (schema.type === 'custom') return parseJsonObject;
  if (schema.type !== 'number') return undefined;
  const { minValue, maxValue, isInt } = schema as z.ZodNumber;
  if (!isInt) return (text) => number(schema, text);
  return name.endsWith('Ms') ? duration : wholeNumber(minValue ?? 0, maxValue ?? undefined);
}

export function number(schema: z.ZodType, text: string): number {
  const value = Number(text);
  if (/^-?\d+(\.\d+)?$/.test(text) && schema.safeParse(value).success) return value;
  throw new InvalidArgumentError(`It must be a ${rangeOf(schema as z.ZodNumber)}.`);
}

function time(text: string): Date {
  const at = new Date(text);
  if (!Number.isNaN(at.getTime())) return at;
  throw new InvalidArgumentError('It must be a time such as 2026-11-25T06:00:00Z.');
}

/** A description of the API as the help writes it: without marks, from a small letter, without a full stop. */
const forPeople = (description: string): string => {
  const text = description.replaceAll('`', '').replace(/\.$/, '');
  return /^[A-Z][a-z ]/.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text;
};
