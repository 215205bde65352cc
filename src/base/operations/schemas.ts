import { z } from 'zod';
import { readJson, isObject } from '../common/json.ts';
import { idGrammar } from '../checks/ids.ts';
import { isStorable } from '../checks/values.ts';

/** The names of schemas. They are not in the registry of zod, which the program that uses the library may fill as well. */
const names = new WeakMap<z.core.$ZodType, string>();

/** Names a schema, in the OpenAPI document and in the types of clients. */
export function named<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  names.set(schema, name);
  return schema;
}

export const nameOf = (schema: z.core.$ZodType): string | undefined => names.get(schema);

/** The named schema that this one only describes in other words. */
export function describedBy(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const { parent, def } = schema._zod;
  if (!parent || parent._zod.def !== def) return undefined;
  return names.has(parent) ? parent : describedBy(parent);
}

export const Id = named(
  'Id',
  z.string().regex(idGrammar, 'Use 1 to 128 characters of [A-Za-z0-9._:@-], starting with a letter or digit.').meta({
    description: '1 to 128 characters of `[A-Za-z0-9._:@-]`, starting with a letter or digit.',
    example: 'support-42',
  }),
);

/** Types that are written by hand, and their modules in `src`. */
const types = new WeakMap<z.core.$ZodType, { name: string; from: string | undefined }>();

/** Says which type the values of a schema have, where it does not follow from the schema. Global types have no module. */
export function typed<Schema extends z.ZodType>(name: string, from: string | undefined, schema: Schema): Schema {
  types.set(schema, { name, from });
  return schema;
}

export function typeOf(schema: z.core.$ZodType): { name: string; from: string | undefined } | undefined {
  const { parent, def } = schema._zod;
  // one that only describes it in other words
  return types.get(schema) ?? (parent && parent._zod.def === def ? typeOf(parent) : undefined);
}

const unchecked = new WeakSet<z.core.$ZodType>();

/** What only requests are checked for: in the library, the value may have another form, which its function reads. */
export function ofRequests<Schema extends z.ZodType>(schema: Schema): Schema {
  unchecked.add(schema);
  return schema;
}

export const isOfRequests = (schema: z.core.$ZodType): boolean =>
  unchecked.has(schema) || (schema._zod.parent !== undefined && isOfRequests(schema._zod.parent));

/** A JSON object of users, which is passed on as it is. */
export const jsonObject = (description: string) =>
  typed(
    'JsonObject',
    'agent/context/message.ts',
    z.custom<object>(isObject, 'Must be an object.').meta({ type: 'object', additionalProperties: true, description }),
  );

/** Any JSON value. */
export const anyJson = (description: string) =>
  z
    .any()
    // required: it is never left out
    .refine((value) => value !== undefined)
    .meta({ description });

/** A schema or null. With `nullable`, the OpenAPI document would allow null in a named schema everywhere. */
export const orNull = <Schema extends z.ZodType>(schema: Schema) => z.union([schema, z.null()]);

export const date = (description: string) =>
  z.date().meta({ format: 'date-time', description, example: new Date('2026-11-21T10:15:30.123Z') });

export const count = (description: string, example: number) => z.int().meta({ description, example });

export const whole = (min: number, max = Number.MAX_SAFE_INTEGER) => z.int().min(min).max(max);

/** Text that is not blank, and that the database can store. */
export const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((value) => value.trim() !== '' && isStorable(value), 'Must not be blank.');

/** The cursor of a page, with the same name in every list. */
export const after = z.string().min(1).max(400).optional().describe('The `next_after` of the previous page.');
export const limit = (fallback: number, what = 'items') =>
  whole(1, 1_000).optional().describe(`Maximum number of ${what}; default ${fallback}.`);

/** Where the next page of a list begins. */
export const nextAfter = z.string().nullable().meta({
  description:
    'Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty even if more follow.',
});

/** A page of a list under its name in the API. */
export const pageOf = <Item extends z.ZodType>(name: string, item: Item) =>
  named(name, z.object({ data: z.array(item), nextAfter }));

/** A page of a list whose items are numbered: its cursor is the number of the last one. */
export const numberedPage = <Item extends z.ZodType>(name: string, item: Item) =>
  named(
    name,
    z.object({
      data: z.array(item),
      nextAfter: z
        .int()
        .nullable()
        .meta({ description: 'Pass it as `after` to get the next page; null on the last page.', example: 99 }),
    }),
  );

/** Whose thing it is. */
export const tenantOf = (thing: string) =>
  Id.optional().meta({
    description: `The tenant of the ${thing}; default: the tenant of the key, else \`default\`.`,
    doc: `The tenant of the ${thing}; default: the tenant of the library, else \`default\`.`,
  });

/** Who changes something, which the library takes and the API knows. */
export const by = text(200).optional().describe('Who changes it, for the audit; default `operator`.');

/** Where a request comes from, which the library takes and the API knows. */
export const from = typed('OverrideCaller', 'agent/definition/overridable.ts', z.enum(['http', 'library']))
  .optional()
  .describe(
    'Where the request comes from. With `http`, the agent must list every field that the request overrides. Default `library`.',
  );

/** As of which entry something is read. */
export const atSeq = whole(-1)
  .optional()
  .describe('As of this entry, inclusive; a number past the last entry means the last entry.');

/** The value of a query that holds a JSON object. */
export function objectOf(text: string): { value: Record<string, unknown> } | { problem: string } {
  const read = readJson(text);
  if (read.ok && isObject(read.value)) return { value: read.value };
  return { problem: read.ok || read.kind === 'syntax' ? 'Must be a JSON object.' : read.problem };
}
