/** The filter of a list as its address has it. */
export type QueryFilter = Readonly<Record<string, string | null | undefined>>;

const numbers = new Set(['min_tokens']);
const booleans = new Set(['answered', 'children']);

/** The same filter as the body of a request has it. */
export function filterOf(query: QueryFilter): Record<string, string | number | boolean> {
  const given = Object.entries(query).filter((field): field is [string, string] => Boolean(field[1]));
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (numbers.has(name)) return [name, Number(value)];
      return [name, booleans.has(name) ? value === 'true' : value];
    }),
  );
}
