import type { z } from 'zod';
import { toSnakeCase, type SnakeCase } from '../common/case.ts';

/*
 * Values of declared schemas are camelCase with dates here, and snake_case with ISO 8601 outside. Only what a schema
 * declares is renamed: objects of users pass as they are.
 */

type Schema = z.core.$ZodTypes;

/** The type of a value as the API and the command line write it. */
export type Wire<VALUE> = VALUE extends string | number | boolean | null | undefined
  ? VALUE
  : VALUE extends Date
    ? string
    : VALUE extends readonly (infer ITEM)[]
      ? Wire<ITEM>[]
      : VALUE extends object
        ? { [NAME in keyof VALUE as SnakeCase<NAME & string>]: Wire<VALUE[NAME]> }
        : VALUE;

/** A value as the API and the command line write it. Fields that the schema does not declare stay behind. */
export const toWire = (schema: z.core.$ZodType, value: unknown): unknown => carry(schema as Schema, value, outwards);

/** What a request says, in the names of the library. Expects a value that the schema of the wire has accepted. */
export const fromWire = (schema: z.core.$ZodType, value: unknown): unknown => carry(schema as Schema, value, inwards);

interface Direction {
  from(name: string): string;
  to(name: string): string;
  date(value: unknown): unknown;
}

const same = (name: string): string => name;
const outwards: Direction = {
  from: same,
  to: toSnakeCase,
  date: (value) => (value instanceof Date ? value.toISOString() : value),
};
const inwards: Direction = { from: toSnakeCase, to: same, date: (value) => new Date(value as string) };

function carry(schema: Schema, value: unknown, direction: Direction): unknown {
  if (value === null || value === undefined) return value;
  const { def } = schema._zod;
  switch (def.type) {
    case 'object': {
      const fields = Object.entries(def.shape).flatMap(([name, field]): [string, unknown][] => {
        const item = (value as Record<string, unknown>)[direction.from(name)];
        return item === undefined ? [] : [[direction.to(name), carry(field as Schema, item, direction)]];
      });
      const { catchall } = def;
      if (!catchall || catchall._zod.def.type === 'never') return Object.fromEntries(fields);
      const declared = new Set(Object.keys(def.shape).map((name) => direction.from(name)));
      const more = Object.entries(value).filter(([name]) => !declared.has(name));
      return Object.fromEntries([...fields, ...more]);
    }
    case 'array':
      return (value as unknown[]).map((item) => carry(def.element as Schema, item, direction));
    case 'record': {
      const items = Object.entries(value).map(([key, item]) => [key, carry(def.valueType as Schema, item, direction)]);
      return Object.fromEntries(items) as unknown;
    }
    case 'union': {
      const meant = (def.options as readonly Schema[]).find((option) => fits(option, value, direction));
      return meant ? carry(meant, value, direction) : value;
    }
    case 'optional':
    case 'nullable':
    case 'default':
      return carry(def.innerType as Schema, value, direction);
    case 'lazy':
      return carry(def.getter() as Schema, value, direction);
    case 'date':
      return direction.date(value);
    default:
      return value;
  }
}

/** Whether a value is the variant of a union that this schema describes; of objects, by their keys and literals. */
function fits(schema: Schema, value: unknown, direction: Direction): boolean {
  const { def } = schema._zod;
  if (def.type === 'null') return false;
  if (def.type === 'array') return Array.isArray(value);
  if (def.type !== 'object') return typeof value !== 'object' || def.type === 'date' || def.type === 'custom';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const given = value as Record<string, unknown>;
  return Object.entries(def.shape).every(([name, field]) => {
    const item = given[direction.from(name)];
    const { def: own, optin } = (field as Schema)._zod;
    if (own.type === 'literal') return (own.values as unknown[]).includes(item);
    return item !== undefined || optin === 'optional';
  });
}
