import { z } from '@hono/zod-openapi';
import { toSnakeCase, type SnakeCase } from '../../base/common/case.ts';

type SnakeShape<SHAPE> = { [NAME in keyof SHAPE as SnakeCase<NAME & string>]: SnakeSchema<SHAPE[NAME]> };

/** The schema of the same data with the names of fields in snake_case. */
export type SnakeSchema<SCHEMA> =
  SCHEMA extends z.ZodObject<infer SHAPE, infer CONFIG>
    ? z.ZodObject<SnakeShape<SHAPE>, CONFIG>
    : SCHEMA extends z.ZodOptional<infer INNER>
      ? z.ZodOptional<SnakeSchema<INNER> & z.core.SomeType>
      : SCHEMA extends z.ZodNullable<infer INNER>
        ? z.ZodNullable<SnakeSchema<INNER> & z.core.SomeType>
        : SCHEMA extends z.ZodArray<infer ITEM>
          ? z.ZodArray<SnakeSchema<ITEM> & z.core.SomeType>
          : SCHEMA;

/**
 * Derives the schema of a body or an answer from the one that the library has: fields in snake_case, also in lists and
 * in objects within. Keys of records and of free-form objects are data, and stay.
 */
export function snakeSchema<SCHEMA extends z.ZodType>(schema: SCHEMA): SnakeSchema<SCHEMA> {
  const renamed = rename(schema);
  const { id, ...about } = schema.meta() ?? {};
  if (renamed === schema || (id === undefined && Object.keys(about).length === 0)) return renamed as never;
  return (id === undefined ? renamed.openapi(about) : renamed.openapi(id, about)) as never;
}

function rename(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return z.optional(inner(schema.unwrap()));
  if (schema instanceof z.ZodNullable) return z.nullable(inner(schema.unwrap()));
  if (schema instanceof z.ZodArray) return new z.ZodArray({ ...schema.def, element: inner(schema.element) });
  if (schema instanceof z.ZodUnion) return new z.ZodUnion({ ...schema.def, options: schema.options.map(inner) });
  if (!(schema instanceof z.ZodObject)) return schema;
  const fields = Object.entries(schema.shape).map(([name, field]) => [toSnakeCase(name), inner(field)]);
  return new z.ZodObject({ ...schema.def, shape: Object.fromEntries(fields) as z.core.$ZodShape });
}

const inner = (schema: z.core.SomeType): z.ZodType => snakeSchema(schema as z.ZodType);
