import type { JSONSchema7, JSONSchema7Definition } from '@ai-sdk/provider';
import type { Json, JsonObject } from '../../context/message.ts';

const formats: Record<string, string> = {
  date: '2025-01-01',
  time: '12:00:00Z',
  'date-time': '2025-01-01T12:00:00Z',
  email: 'somebody@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/**
 * Arguments that satisfy a tool's schema well enough to call it: constants, defaults and examples where there are any,
 * else `text` for strings and its first number for numbers. Fills the required properties, or all if none is required.
 */
export function placeholderArgs(schema: JSONSchema7, text: string): JsonObject {
  const value = placeholder(schema, { root: schema, text, depth: 0 });
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}

interface Context {
  root: JSONSchema7;
  text: string;
  depth: number;
}

function placeholder(definition: JSONSchema7Definition | undefined, context: Context): Json {
  if (definition === undefined || typeof definition === 'boolean' || context.depth > 8) return null;
  const inner = { ...context, depth: context.depth + 1 };
  const schema = definition;
  if (schema.$ref) return placeholder(lookUp(schema.$ref, context.root), inner);
  const given = [schema.const, schema.default, schema.enum?.[0], ([] as unknown[]).concat(schema.examples ?? [])[0]];
  const fixed = given.find((value) => value !== undefined);
  if (fixed !== undefined) return fixed as Json;
  const option = schema.anyOf?.[0] ?? schema.oneOf?.[0] ?? schema.allOf?.[0];
  if (option !== undefined && !schema.properties) return placeholder(option, inner);
  const type = Array.isArray(schema.type)
    ? schema.type[0]
    : (schema.type ?? (schema.properties ? 'object' : undefined));
  if (type === 'object') return objectOf(schema, inner);
  if (type === 'array')
    return Array.from({ length: Math.min(schema.minItems ?? 0, 10) }, () =>
      placeholder([schema.items].flat()[0], inner),
    );
  if (type === 'string') return stringOf(schema, context.text);
  if (type === 'number' || type === 'integer') return numberOf(schema, type, context.text);
  return type === 'boolean' ? true : null;
}

function objectOf(schema: JSONSchema7, context: Context): JsonObject {
  const properties = schema.properties ?? {};
  const names = schema.required?.length ? schema.required : context.depth === 1 ? Object.keys(properties) : [];
  return Object.fromEntries(names.map((name) => [name, placeholder(properties[name], context)]));
}

function stringOf(schema: JSONSchema7, text: string): string {
  const value = (schema.format && formats[schema.format]) || text.trim() || 'example';
  return value.slice(0, Math.min(schema.maxLength ?? 200, 200)).padEnd(Math.min(schema.minLength ?? 0, 200), '.');
}

function numberOf(schema: JSONSchema7, type: 'number' | 'integer', text: string): number {
  const found = Number(/-?\d+(?:\.\d+)?/.exec(text)?.[0] ?? 1);
  const bounded = Math.min(Math.max(found, schema.minimum ?? -Infinity), schema.maximum ?? Infinity);
  return type === 'integer' ? Math.round(bounded) : bounded;
}

function lookUp(ref: string, root: JSONSchema7): JSONSchema7Definition | undefined {
  if (!ref.startsWith('#')) return undefined;
  let node: unknown = root;
  for (const key of ref.slice(1).split('/').filter(Boolean))
    node = (node as Record<string, unknown> | undefined)?.[key];
  return node as JSONSchema7Definition | undefined;
}
