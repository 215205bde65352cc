import { isObject } from '../../base/common/json.ts';
import type { Json, JsonObject } from './message.ts';

/**
 * A change a tool makes to the state of its thread. A path consists of object keys; an array is replaced as a whole.
 */
export type StateEffect =
  /** Deep-merges an object into the state. */
  | { op: 'set'; value: JsonObject }
  | { op: 'replace'; value: JsonObject }
  /** Deletes top-level keys. */
  | { op: 'delete_keys'; keys: string[] }
  /** Sets the value at a path. Creates missing parents, replacing non-objects. */
  | { op: 'set_path'; path: string[]; value: Json }
  /** Deletes the value at a path, if there is one. */
  | { op: 'delete_path'; path: string[] };

export type EffectOp = StateEffect['op'];

export const effectOps: readonly EffectOp[] = ['set', 'replace', 'delete_keys', 'set_path', 'delete_path'];

/**
 * Applies effects to a state in order, by the rules of `lanefold._apply_effects`. Does not modify its arguments.
 *
 * @example
 * ```ts
 * import { applyEffects } from 'lanefold';
 *
 * const state = applyEffects({ cart: ['tea'] }, [{ op: 'set_path', path: ['city'], value: 'Lisbon' }]);
 * console.log(state); // { cart: ['tea'], city: 'Lisbon' }
 * ```
 */
export const applyEffects = (state: JsonObject, effects: readonly StateEffect[]): JsonObject =>
  effects.reduce(applyEffect, state);

function applyEffect(state: JsonObject, effect: StateEffect): JsonObject {
  switch (effect.op) {
    case 'set':
      return merge(state, effect.value) as JsonObject;
    case 'replace':
      return effect.value;
    case 'delete_keys':
      return without(state, effect.keys);
    case 'set_path':
      return setPath(state, effect.path, effect.value);
    case 'delete_path':
      return deletePath(state, effect.path) as JsonObject;
  }
}

// Spreads and computed keys define own properties, so a key such as `__proto__` stays an ordinary key.
const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

function merge(base: Json | undefined, value: Json): Json {
  if (!isObject(base) || !isObject(value)) return value;
  const merged = Object.entries(value).map(([key, item]) => [
    key,
    Object.hasOwn(base, key) ? merge(own(base, key), item) : item,
  ]);
  return { ...base, ...Object.fromEntries(merged) };
}

const without = (object: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));

function setPath(value: Json | undefined, [key, ...rest]: readonly string[], item: Json): JsonObject {
  const base = isObject(value) ? value : {};
  return { ...base, [key!]: rest.length > 0 ? setPath(own(base, key!), rest, item) : item };
}

function deletePath(value: Json, [key, ...rest]: readonly string[]): Json {
  if (!isObject(value) || !Object.hasOwn(value, key!)) return value;
  return rest.length > 0 ? { ...value, [key!]: deletePath(value[key!]!, rest) } : without(value, [key!]);
}

/** Deep-freezes a value, so that the tools of a round cannot modify what they share. */
export function frozen<T extends Json>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) frozen(item);
  return Object.freeze(value) as T;
}
