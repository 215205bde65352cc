import type { JSONSchema7 } from '@ai-sdk/provider';

/**
 * The object in the result of a call that generates one, such as the AI SDK's `generateObject`; anything else as it is, and
 * whatever the contract itself calls `object`.
 */
export function unwrapObject(value: unknown, schema: JSONSchema7): unknown {
  if (typeof value !== 'object' || value === null || !('object' in value)) return value;
  if (Object.hasOwn(schema.properties ?? {}, 'object')) return value;
  const { object } = value;
  return typeof object === 'object' && object !== null && !Array.isArray(object) ? object : value;
}
