/** The filter of a list as its address has it. */
export type QueryFilter = Readonly<Record<string, string | null | undefined>>;

const numbers = new Set(['min_tokens']);
const booleans = new Set(['answered', 'children']);
const objects = new Set(['metadata']);

/** The same filter as the body of a request has it. */
export function filterOf(query: QueryFilter): Record<string, unknown> {
  const given = Object.entries(query).filter((field): field is [string, string] => Boolean(field[1]));
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (numbers.has(name)) return [name, Number(value)];
      if (objects.has(name)) return [name, parsed(value)];
      return [name, booleans.has(name) ? value === 'true' : value];
    }),
  );
}

/** JSON, or the text as it is, which the server refuses with its reason. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
