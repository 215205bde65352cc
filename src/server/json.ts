import { snakeKeys, type SnakeCase } from '../base/common/case.ts';

export type Json<T> = {
  [K in keyof T as SnakeCase<K & string>]: T[K] extends Date ? string : T[K] extends Date | null ? string | null : T[K];
};

/** A resource as the API returns it: its own keys in snake_case, its dates in ISO 8601. Nested values are unchanged. */
export function toJson<T extends object>(resource: T): Json<T> {
  const fields = Object.entries(snakeKeys(resource));
  return Object.fromEntries(
    fields.map(([key, value]) => [key, value instanceof Date ? value.toISOString() : value]),
  ) as Json<T>;
}
