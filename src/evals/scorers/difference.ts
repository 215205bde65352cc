import type { Json } from '../../context/message.ts';

/**
 * The first difference between two JSON values, as `$.path is …, expected …`; null if there is none. With `extraKeys`,
 * objects may have keys that are not expected.
 */
export function firstDifference(
  actual: Json | undefined,
  expected: Json,
  { extraKeys }: { extraKeys: boolean },
  path = '$',
): string | null {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (actual.length !== expected.length) return `${path} has ${actual.length} elements, expected ${expected.length}`;
    return first(expected.keys(), (i) => firstDifference(actual[i], expected[i]!, { extraKeys }, `${path}[${i}]`));
  }
  if (isObject(expected) && isObject(actual)) {
    const extra = extraKeys ? undefined : Object.keys(actual).find((key) => !Object.hasOwn(expected, key));
    if (extra !== undefined) return `${path}.${extra} is ${show(actual[extra])}, expected nothing`;
    return first(Object.keys(expected), (key) =>
      firstDifference(
        Object.hasOwn(actual, key) ? actual[key] : undefined,
        expected[key]!,
        { extraKeys },
        `${path}.${key}`,
      ),
    );
  }
  return actual === expected ? null : `${path} is ${show(actual)}, expected ${show(expected)}`;
}

function first<T>(keys: Iterable<T>, differenceAt: (key: T) => string | null): string | null {
  for (const key of keys) {
    const difference = differenceAt(key);
    if (difference !== null) return difference;
  }
  return null;
}

export const isObject = (value: unknown): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const show = (value: Json | undefined): string => {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
};
