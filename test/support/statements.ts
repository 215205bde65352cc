interface Statement {
  name?: string;
  text?: string;
  values?: unknown[];
}

/** The database functions a statement calls: those of the items of a batch, else its own name. */
export function functionsIn(statement: unknown): string[] {
  if (typeof statement === 'string') return [statement];
  const { text = '', name = text, values } = statement as Statement;
  if (name !== 'attempts') return [name];
  return (JSON.parse(values![0] as string) as { function: string }[]).map((item) => item.function);
}
