import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const page = readFileSync('docs/reference/sql.md', 'utf8');

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** The names in the first column of the table under a heading. */
function documented(heading: string): string[] {
  const section = page.split(`### \`${heading}\`\n`)[1]!.split(/\n##/)[0]!;
  const rows = [...section.matchAll(/^\| (`.+?) \|/gm)].map((match) => match[1]!);
  return rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map((match) => match[1]!));
}

test('documents every public view and table with exactly its columns', async () => {
  const { rows } = await database.pool.query<{ name: string; columns: string[] }>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'lanefold'::regnamespace and c.relkind in ('r', 'v') and c.relname !~ '^_' group by 1`,
  );
  expect(rows.length).toBeGreaterThan(5);
  for (const { name, columns } of rows) expect([name, documented(name).toSorted()]).toEqual([name, columns.toSorted()]);
});

test('documents every kind of event', () => {
  const source = readFileSync('src/agent/strategies/records.ts', 'utf8');
  const [declared] = /export type RunEventKind =.*?;/s.exec(source)!;
  const kinds = [...declared.matchAll(/\| '(\w+)'/g)].map((match) => match[1]!);
  expect(kinds.length).toBeGreaterThan(10);
  const [row] = /^\| `kind` +\|[^|]*\| `request_started`.*$/m.exec(page)!;
  const shown = [...row.matchAll(/`(\w+)`/g)].map((match) => match[1]!).filter((name) => name !== 'kind');
  expect(shown.toSorted()).toEqual(kinds.toSorted());
});

test('documents every public function', async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select distinct proname as name from pg_proc where pronamespace = 'lanefold'::regnamespace and proname !~ '^_'`,
  );
  const functions = page.split('## Functions')[1]!;
  for (const { name } of rows) expect(functions, name).toMatch(new RegExp(`\`${name}[\`(]`));
});

test('the queries on the page are those of the example', () => {
  const queries = readFileSync('examples/sql-queries/queries.sql', 'utf8')
    .trim()
    .split(/\n\n(?=-- )/);
  const shown = page.split('## Views and tables')[0]!;
  for (const query of queries) {
    const [title, ...body] = query.split('\n');
    expect(shown).toContain(`### ${title!.slice('-- '.length)}\n\n\`\`\`sql run\n${body.join('\n')}\n\`\`\`\n`);
  }
});
