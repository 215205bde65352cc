import { z } from '@hono/zod-openapi';
import { toSnakeCase, type SnakeCase } from '../../base/common/case.ts';
import { describedBy, Id as IdHere, nameOf, objectOf } from '../../base/operations/schemas.ts';
import { toWire } from '../../base/operations/wire.ts';
import { Call as CallHere } from '../../database/store/run/declaration.ts';

type Schema = z.core.$ZodTypes;

const made = new WeakMap<z.core.$ZodType, z.ZodType>();

type WireShape<SHAPE> = { [NAME in keyof SHAPE as SnakeCase<NAME & string>]: WireSchema<SHAPE[NAME]> };

/** The type of the schema that a declared one has over HTTP. Times are text there, of which no type is derived yet. */
export type WireSchema<SCHEMA> =
  SCHEMA extends z.ZodObject<infer SHAPE, infer CONFIG>
    ? z.ZodObject<WireShape<SHAPE>, CONFIG>
    : SCHEMA extends z.ZodOptional<infer INNER>
      ? z.ZodOptional<WireSchema<INNER> & z.core.SomeType>
      : SCHEMA extends z.ZodNullable<infer INNER>
        ? z.ZodNullable<WireSchema<INNER> & z.core.SomeType>
        : SCHEMA extends z.ZodArray<infer ITEM>
          ? z.ZodArray<WireSchema<ITEM> & z.core.SomeType>
          : SCHEMA;

/** The schema that a declared one has over HTTP: names in snake_case, times as text. */
export function wireSchema(schema: z.core.$ZodType): z.ZodType {
  const known = made.get(schema);
  if (known) return known;
  const plain = describedBy(schema);
  const meta = metaOf(schema);
  const name = nameOf(schema);
  const like = plain ? wireSchema(plain) : convert(schema as Schema);
  const result = name === undefined ? (meta ? like.openapi(meta) : like) : like.openapi(name, meta);
  made.set(schema, result);
  return result;
}

/** The description, example and the like of a schema. */
function metaOf(schema: z.core.$ZodType): Record<string, unknown> | undefined {
  const { doc: _, ...meta } = (schema as z.ZodType).meta() ?? {};
  if (Object.keys(meta).length === 0) return undefined;
  return 'example' in meta ? { ...meta, example: toWire(schema, meta['example']) } : meta;
}

function convert(schema: Schema): z.ZodType {
  const { def } = schema._zod;
  const like = (changes: object) => copy(schema, { ...def, ...changes });
  switch (def.type) {
    case 'object':
      return like({
        shape: Object.fromEntries(
          Object.entries(def.shape).map(([name, field]) => [toSnakeCase(name), wireSchema(field)]),
        ),
      });
    case 'array':
      return like({ element: wireSchema(def.element) });
    case 'record':
      return like({ keyType: wireSchema(def.keyType), valueType: wireSchema(def.valueType) });
    case 'union':
      return like({ options: def.options.map(wireSchema) });
    case 'optional':
      return wireSchema(def.innerType).optional();
    case 'nullable':
      return wireSchema(def.innerType).nullable();
    case 'lazy':
      return z.lazy(() => wireSchema(def.getter()));
    case 'date':
      return z
        .string()
        .refine((text) => !Number.isNaN(Date.parse(text)), 'Must be a time such as 2026-11-21T10:15:30Z.');
    default:
      return like({});
  }
}

/** Another schema of the same type, made after OpenAPI was added to all of them. */
const copy = (schema: Schema, def: object): z.ZodType =>
  new ((schema as unknown as { constructor: unknown }).constructor as new (def: object) => z.ZodType)(def);

/** A list as the API returns it. */
export function listSchema(list: z.ZodArray): z.ZodType {
  const known = made.get(list);
  if (known) return known;
  const item = list.def.element;
  const name = nameOf(list) ?? `${nameOf(item)}List`;
  const result = z.object({ data: z.array(wireSchema(item)) }).openapi(name);
  made.set(list, result);
  return result;
}

/** The parameters of a query, which are text. */
export const querySchema = (fields: Record<string, z.core.$ZodType>): z.ZodObject =>
  z.strictObject(
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [toSnakeCase(name), textSchema(field)])),
  );

/** A parameter of a query, or a header. */
export function textSchema(given: z.core.$ZodType): z.ZodType {
  const field = given as Schema;
  const optional = field._zod.def.type === 'optional';
  const value = (optional ? (field._zod.def as z.core.$ZodOptionalDef).innerType : field) as Schema;
  const { description, example } = { ...metaOf(value), ...metaOf(field) } as {
    description?: string;
    example?: unknown;
  };
  const known = describedBy(value) ?? value;
  const text = read(value, known);
  const shown =
    description === undefined || (known !== value && nameOf(known) === undefined) ? {} : { param: { description } };
  const own = nameOf(known) === undefined || example !== metaOf(known)?.['example'];
  const more =
    value._zod.def.type === 'custom'
      ? { type: 'string' as const, example: JSON.stringify(example) }
      : own && example !== undefined
        ? { example }
        : {};
  return (optional ? text.schema.optional() : text.schema).openapi({ ...shown, ...text.meta, ...more });
}

interface Text {
  schema: z.ZodType;
  meta?: object;
}

/** Reads a parameter of a query. */
function read(value: Schema, known: z.core.$ZodType): Text {
  const { def } = value._zod;
  if (def.type === 'number') {
    const { minValue: minimum, maxValue: maximum, isInt } = value as unknown as z.ZodNumber;
    if (!isInt) return { schema: z.coerce.number().min(minimum!).max(maximum!) };
    const digits = z.string().regex(/^-?\d{1,16}$/, 'Must be a whole number.');
    return {
      schema: digits.transform(Number).pipe(z.int().min(minimum!).max(maximum!)),
      meta: { type: 'integer', minimum, maximum },
    };
  }
  if (def.type === 'date') {
    const time = z.iso.datetime({ offset: true, error: 'Must be a time such as 2026-11-21T10:15:30Z.' });
    return { schema: time, meta: { type: 'string', format: 'date-time' } };
  }
  if (def.type === 'boolean')
    return { schema: z.enum(['true', 'false']).transform((text) => text === 'true'), meta: { type: 'boolean' } };
  if (def.type === 'custom')
    return {
      schema: z
        .string()
        .max(4_000)
        .transform((text, context) => {
          const read = objectOf(text);
          if ('value' in read) return read.value;
          context.addIssue({ code: 'custom', message: read.problem });
          return z.NEVER;
        }),
    };
  return { schema: nameOf(known) === undefined ? convert(value) : wireSchema(known) };
}

export const Id = wireSchema(IdHere) as z.ZodString;
export const Call = wireSchema(CallHere) as z.ZodString;
