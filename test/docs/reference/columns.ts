import pg from 'pg';
import { code, table } from './markdown.ts';

interface Column {
  relation: string;
  name: string;
  type: string;
  comment: string | null;
}

const described = `
  select c.relname as relation, a.attname as name, format_type(a.atttypid, null) as type, col_description(c.oid, a.attnum) as comment
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = 'lanefold'::regnamespace and c.relkind in ('r', 'v') and c.relname !~ '^_'
  order by c.relname, a.attnum`;

const short: Record<string, string> = { 'timestamp with time zone': 'timestamptz', 'double precision': 'float8' };

/** The tables of the columns of every public view and table, from the comments of a migrated database. */
export async function columnTables(url: string): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Column>(described).finally(() => client.end());
  const relations = new Map<string, string[][]>();
  for (const { relation, name, type, comment } of rows) {
    if (comment === null) throw new Error(`${relation}.${name} has no comment: see db/sql/columns/${relation}.sql.`);
    const known = relations.get(relation) ?? [];
    relations.set(relation, [...known, [code(name), short[type] ?? type, comment]]);
  }
  return new Map([...relations].map(([name, columns]) => [name, table(['column', 'type', 'meaning'], columns)]));
}

/** Writes the tables into the sections of docs/reference/sql.md that have the names of views and tables as headings. */
export function fillColumns(page: string, tables: ReadonlyMap<string, string>): string {
  const filled = new Set<string>();
  const sections = page.split(/^(?=##+ )/m).map((section) => {
    const name = /^### `(\w+)`\n/.exec(section)?.[1];
    const columns = name && tables.get(name);
    if (!columns) return section;
    filled.add(name);
    const lines = section.trimEnd().split('\n');
    const first = lines.findIndex((line) => /^\| column /.test(line));
    if (first < 0) return `${lines.join('\n')}\n\n${columns}\n\n`;
    const after = lines.findIndex((line, at) => at > first && !line.startsWith('|'));
    lines.splice(first, (after < 0 ? lines.length : after) - first, columns);
    return `${lines.join('\n')}\n\n`;
  });
  const missing = [...tables.keys()].filter((name) => !filled.has(name));
  if (missing.length > 0) throw new Error(`docs/reference/sql.md has no section for ${missing.join(', ')}.`);
  return `${sections.join('').trimEnd()}\n`;
}
