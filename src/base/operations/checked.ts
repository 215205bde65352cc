import type { z } from 'zod';
import { assertId } from '../checks/ids.ts';
import { refuseUnknownKeys } from '../checks/unknown-keys.ts';
import { LanefoldError } from '../errors.ts';
import type { Noun, Operation } from './operation.ts';
import { argumentsOf } from './operation.ts';
import { isObject } from '../common/json.ts';
import { describedBy, Id, isOfRequests } from './schemas.ts';

type AnyMethod = (...args: unknown[]) => unknown;

/**
 * The methods of a noun, which refuse what their declarations do not allow: options they do not take, which are mostly
 * typos that would silently change the answer, and values that their functions could not use.
 */
export function checked<Implemented extends object>(
  { part, operations }: Pick<Noun, 'part' | 'operations'>,
  methods: Implemented,
): Implemented {
  const own = methods as Record<string, AnyMethod>;
  const declared = Object.entries(operations as Record<string, Operation>).filter(([, { byHand }]) => !byHand);
  const checking = declared.map(([name, operation]) => {
    const check = checkOf(`${part}.${name}`, operation);
    const method = own[name]!;
    return [name, async (...args: unknown[]) => (check(args), method(...args))] as const;
  });
  return { ...methods, ...Object.fromEntries(checking) };
}

/** Checks the arguments of a method. */
function checkOf(what: string, operation: Operation): (args: readonly unknown[]) => void {
  const checks = argumentsOf(operation).map((argument): ((given: unknown) => void) => {
    switch (argument.kind) {
      case 'field':
        return (given) => checkOne(argument.name, argument.schema, given, hintOf(operation));
      case 'body':
        return (given) => checkBody(what, operation, given);
      case 'options':
        return (given = {}) => checkFields(what, 'options', argument.fields, given, hintOf(operation));
      default:
        // ids and references, which the functions check
        return () => {};
    }
  });
  return (args) => checks.forEach((check, i) => check(args[i]));
}

/** @throws LanefoldError `invalid_input`; `details.field` names the field */
export function checkBody(what: string, operation: Operation, given: unknown): void {
  const body = operation.body!;
  if (body.type !== 'object') checkOne(operation.bodyName ?? 'definition', body, given, hintOf(operation));
  else checkFields(what, operation.bodyName ?? 'definition', (body as z.ZodObject).shape, given, hintOf(operation));
}

/**
 * Checks the options of a method whose checks are written by hand.
 *
 * @throws LanefoldError `invalid_input`; `details.field` names the field
 */
export function checkOptions(what: string, options: z.ZodObject, given: unknown): void {
  checkFields(what, 'options', options.shape, given ?? {}, 'Correct it.');
}

const hintOf = ({ scope }: Operation): string =>
  scope === 'read' ? 'Correct it.' : 'Nothing was written. Correct it, and call again.';

type Fields = Readonly<Record<string, z.core.$ZodType>>;

function checkFields(what: string, argument: string, fields: Fields, given: unknown, hint: string): void {
  if (!isObject(given)) throw invalid(argument, 'must be an object', hint);
  refuseUnknownKeys(what, given, fields as never);
  for (const [name, schema] of Object.entries(fields)) checkOne(name, schema as z.ZodType, given[name], hint);
}

function checkOne(name: string, schema: z.ZodType, value: unknown, hint: string): void {
  if (value !== undefined && isId(schema)) return assertId(value, name);
  if (isOfRequests(inner(schema))) return;
  const issue = schema.safeParse(value).error?.issues.find(({ path }) => !isReadElsewhere(schema, path));
  if (!issue) return;
  const path = [name, ...issue.path.map(String)].join('.');
  const meant = along(schema, issue.path).at(-1)!;
  if (issue.code === 'unrecognized_keys' && meant._zod.def.type === 'object')
    refuseUnknownKeys(
      path,
      Object.fromEntries(issue.keys.map((key) => [key, true])),
      meant._zod.def.shape as never,
      'invalid_input',
      path,
    );
  throw invalid(path, problemOf(meant, issue), hint);
}

const invalid = (field: string, problem: string, hint: string): LanefoldError =>
  new LanefoldError('invalid_input', `${field} ${problem}.`, { hint, details: { field, problem } });

type Schema = z.core.$ZodTypes;

const inner = (schema: z.core.$ZodType): Schema => {
  const { def } = (schema as Schema)._zod;
  if (def.type === 'optional' || def.type === 'nullable' || def.type === 'default') return inner(def.innerType);
  return schema as Schema;
};

const isId = (schema: z.core.$ZodType): boolean => {
  const one = inner(schema);
  return one === (Id as unknown) || describedBy(one) === Id;
};

/** The schemas on the way to the value at a path, as far as they are known; the last is its own. */
function along(schema: z.core.$ZodType, [first, ...rest]: readonly PropertyKey[]): [...Schema[], Schema] {
  const one = inner(schema);
  const next = first === undefined ? undefined : within(one, first);
  return next ? [one, ...along(next, rest)] : [one];
}

/** The names of the fields of the object at a path, as far as its schema is known. */
export function fieldsAt(schema: z.core.$ZodType, [first, ...rest]: readonly PropertyKey[]): readonly string[] {
  const one = inner(schema);
  if (first === undefined) return one._zod.def.type === 'object' ? Object.keys(one._zod.def.shape) : [];
  const next = within(one, first);
  return next ? fieldsAt(next, rest) : [];
}

function within({ _zod: { def } }: Schema, key: PropertyKey): z.core.$ZodType | undefined {
  if (def.type === 'object') return def.shape[String(key)];
  if (def.type === 'array') return def.element;
  return def.type === 'record' ? def.valueType : undefined;
}

/** Whether the value at a path may have another form here, which a function reads. */
const isReadElsewhere = (schema: z.core.$ZodType, path: readonly PropertyKey[]): boolean =>
  along(schema, path).some(isOfRequests);

/** What is wrong with a value, as the end of a sentence that begins with its name. */
function problemOf(schema: Schema, issue: z.core.$ZodIssue): string {
  const { def } = schema._zod;
  if (issue.code === 'custom') return issue.message.replace(/^Must/, 'must').replace(/\.$/, '');
  if (def.type === 'number') return `must be a ${rangeOf(schema as unknown as z.ZodNumber)}`;
  if (def.type === 'enum') return `must be one of ${Object.values(def.entries).join(', ')}`;
  if (def.type === 'boolean') return 'must be true or false';
  if (def.type === 'date') return 'must be a Date';
  if (issue.code === 'invalid_type')
    return `must be a${def.type === 'object' ? 'n object' : ` ${words[def.type] ?? def.type}`}`;
  return `is invalid: ${issue.message}`;
}

const words: Record<string, string> = { array: 'list', string: 'text', record: 'JSON object' };

/** Which numbers a schema allows. */
export function rangeOf(schema: z.ZodNumber): string {
  const { isInt, minValue, maxValue } = schema;
  const kind = isInt ? 'whole number' : 'number';
  const least = (minValue ?? -Infinity) > Number.MIN_SAFE_INTEGER ? minValue : undefined;
  const most = (maxValue ?? Infinity) < Number.MAX_SAFE_INTEGER ? maxValue : undefined;
  if (least === undefined) return most === undefined ? kind : `${kind} of at most ${most}`;
  if (!schema.safeParse(least).success)
    return `${kind} above ${least}${most === undefined ? '' : ` and up to ${most}`}`;
  return most === undefined ? `${kind} of at least ${least}` : `${kind} from ${least} to ${most}`;
}
