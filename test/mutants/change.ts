/** A text of a function or file, and the wrong one in its place. */
export type Replacement = [text: string, broken: string];

/** One mistake. */
export interface Change {
  name: string;
  /** By function of the database. */
  sql?: Record<string, Replacement[]>;
  /** By file. */
  source?: Record<string, Replacement[]>;
}

/** Replaces texts of a function or file, each of which must be there once. */
export function replaceEach(whole: string, what: string, replacements: readonly Replacement[]): string {
  return replacements.reduce((rest, [text, broken]) => {
    const times = rest.split(text).length - 1;
    if (times !== 1) throw new Error(`${what} has this text ${times} times, not once: ${text}`);
    return rest.replace(text, () => broken);
  }, whole);
}

type Query = (text: string, values?: unknown[]) => Promise<{ rows: Record<string, unknown>[] }>;

/** Replaces texts of functions of a database. Returns the statements that undo it. */
export async function breakFunctions(query: Query, sql: NonNullable<Change['sql']>): Promise<string[]> {
  const intact: string[] = [];
  for (const [name, replacements] of Object.entries(sql)) {
    const { rows } = await query(
      'select pg_get_functiondef(oid) as body from pg_proc where pronamespace = $1::regnamespace and proname = $2',
      ['lanefold', name],
    );
    if (rows.length !== 1) throw new Error(`There are ${rows.length} functions ${name}.`);
    const body = rows[0]!['body'] as string;
    await query(replaceEach(body, name, replacements));
    intact.push(body);
  }
  return intact;
}
