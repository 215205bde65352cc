interface Statement {
  name?: string;
  text?: string;
  values?: unknown[];
}

/** The database functions a statement calls: those of the items of a batch, else its own name. */
export function functionsIn(statement: unknown): string[] {
  if (typeof statement === 'string') return [statement];
  const { text = '', name = text, values } = statement as Statement;
  // for one tenant, the role is part of the name
  if (!/^attempts(_as_|$)/.test(name)) return [name];
  return (JSON.parse(values![0] as string) as { function: string }[]).map((item) => item.function);
}
