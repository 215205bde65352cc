import type { Json, JsonObject } from '../../../agent/context/message.ts';
import type { PatchOperation } from './event.ts';

/** Keys that clients refuse in a patch, because they could change the prototype of an object. */
const refused = new Set(['__proto__', 'constructor', 'prototype']);

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The patch that turns one state into another. An array is replaced as a whole, as the state operations of tools do.
 * Undefined if clients would not apply it.
 */
export function patchOf(before: JsonObject, after: JsonObject): PatchOperation[] | undefined {
  const patch = [...differences(before, after, '')];
  const keys = patch.flatMap(({ path }) => path.split('/').slice(1));
  return keys.some((key) => refused.has(key)) ? undefined : patch;
}

function* differences(before: JsonObject, after: JsonObject, at: string): Generator<PatchOperation> {
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) yield { op: 'remove', path: pathOf(at, key) };
  for (const [key, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (old === undefined) yield { op: 'add', path: pathOf(at, key), value };
    else if (isObject(old) && isObject(value)) yield* differences(old, value, pathOf(at, key));
    else if (!sameJson(old, value)) yield { op: 'replace', path: pathOf(at, key), value };
  }
}

const pathOf = (at: string, key: string): string => `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Whether two values are the same JSON, whatever the order of their keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [Object.entries(a), b as Record<string, unknown>];
  return (
    left.length === Object.keys(b).length &&
    left.every(([key, value]) => Object.hasOwn(right, key) && sameJson(value, right[key]))
  );
}
