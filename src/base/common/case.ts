/** TypeScript names are camelCase; everything stored, sent or printed as data is snake_case. The two meet here. */

/** `SnakeCase<'contextRef'>` is `'context_ref'`. */
export type SnakeCase<S extends string> = S extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Rest>}`
  : S;

/** `CamelCase<'context_ref'>` is `'contextRef'`. */
export type CamelCase<S extends string> = S extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<CamelCase<Rest>>}`
  : S;

/** `contextRef` becomes `context_ref`. */
export const toSnakeCase = <NAME extends string>(name: NAME): SnakeCase<NAME> =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as SnakeCase<NAME>;
/** `context_ref` becomes `contextRef`. */
export const toCamelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The object with its own keys in snake_case. Nested values are data already and stay as they are. */
export const snakeKeys = (value: object): Record<string, unknown> => renameKeys(value, toSnakeCase);

/** The object with its own keys in camelCase. Nested values stay as they are. */
export const camelKeys = (value: object): Record<string, unknown> => renameKeys(value, toCamelCase);

const renameKeys = (value: object, rename: (name: string) => string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([key, item]) => [rename(key), item]));
