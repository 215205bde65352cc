interface Statement {
  name?: string;
  text?: string;
  values?: unknown[];
}

/** The database functions a statement calls: those of the items of a batch, else its own name. */
export const functionsIn = (statement: unknown): string[] => callsIn(statement).map(({ name }) => name);

/** The same, with all that is passed to each as JSON. */
export function callsIn(statement: unknown): { name: string; about: string }[] {
  if (typeof statement === 'string') return [{ name: statement, about: '' }];
  const { text = '', name = text, values = [] } = statement as Statement;
  // for one tenant, the role is part of the name
  if (!/^attempts(_as_|$)/.test(name)) return [{ name, about: JSON.stringify(values) }];
  const items = JSON.parse(values[0] as string) as { function: string }[];
  return items.map((item) => ({ name: item.function, about: JSON.stringify(item) }));
}
