/** `contextRef` as `context_ref`. */
type SnakeKey<S extends string> = S extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeKey<Rest>}`
  : S;

export type Outside<T> = {
  [K in keyof T as SnakeKey<K & string>]: T[K] extends Date ? string : T[K] extends Date | null ? string | null : T[K];
};

/** A resource as it leaves the process: its own field names in snake_case, times in ISO 8601. Values are data and stay. */
export function toOutside<T extends object>(resource: T): Outside<T> {
  const fields = Object.entries(resource).map(([key, value]) => [
    key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value instanceof Date ? value.toISOString() : (value as unknown),
  ]);
  return Object.fromEntries(fields) as Outside<T>;
}

/** A page of `limit` from one item more than that: the cursor of the last item where there is a next page. */
export function pageOf<T extends object, C>(found: T[], limit: number, cursor: (item: T) => C) {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { data: items.map(toOutside), next: found.length > limit && last !== undefined ? cursor(last) : null };
}
