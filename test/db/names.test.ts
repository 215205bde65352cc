// @module-tag slow
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createLanefold } from 'lanefold';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { newThread, rows, useLog } from './helpers.ts';

const log = useLog();

test('every function names our tables and functions with their schema, so that no search_path leads elsewhere', async () => {
  const objects = await rows<{ name: string; called: boolean }>(
    log.db,
    `select distinct proname::text as name, true as called from pg_proc where pronamespace = 'lanefold'::regnamespace
     union all select relname::text, false from pg_class where relnamespace = 'lanefold'::regnamespace and relkind in ('r', 'v')`,
  );
  const of = (called: boolean) => objects.filter((object) => object.called === called).map(({ name }) => name);
  const bare = new RegExp(
    `(?<![\\w.])(${of(true).join('|')})\\s*\\(|\\b(from|join|into|update|table)\\s+(${of(false).join('|')})\\b(?!\\s*\\()`,
    'g',
  );
  const bodies = await rows<{ name: string; body: string }>(
    log.db,
    "select proname::text as name, prosrc as body from pg_proc where pronamespace = 'lanefold'::regnamespace",
  );
  const found = bodies.flatMap(({ name, body }) =>
    [...body.replaceAll(/--.*$|'(?:[^']|'')*'/gm, '').matchAll(bare)].map(([text]) => `${name}: ${text}`),
  );
  // a common table expression of _durable_messages
  expect(found.filter((text) => !/_durable_messages: from message/.test(text))).toEqual([]);
});

test('every function, table and view that a statement of the source names is in the database', async () => {
  const functions = new Map(
    (
      await rows<{ name: string; least: number; most: number }>(
        log.db,
        `select proname::text as name, min(pronargs - pronargdefaults)::int as least, max(pronargs)::int as most from pg_proc
         where pronamespace = 'lanefold'::regnamespace group by 1`,
      )
    ).map(({ name, ...taken }) => [name, taken]),
  );
  const relations = new Set(
    (
      await rows<{ name: string }>(
        log.db,
        "select relname::text as name from pg_class where relnamespace = 'lanefold'::regnamespace and relkind in ('r', 'v')",
      )
    ).map(({ name }) => name),
  );
  const texts = sourceFiles('src').flatMap(({ file, text }) => literals(text).map((sql) => ({ file, sql })));
  const calls = texts.flatMap(({ file, sql }) => callsIn(sql).map((call) => ({ file, ...call })));
  const named = texts.flatMap(({ file, sql }) =>
    [...sql.matchAll(/\b(?:from|join|into|update|table|only)\s+lanefold\.(\w+)\b(?!\s*\(|\.)/g)].map(([, name]) => ({
      file,
      name: name!,
    })),
  );
  expect(calls.length).toBeGreaterThan(50);
  expect(named.length).toBeGreaterThan(100);
  const isWrong = ({ name, given }: { name: string; given: number | undefined }): boolean => {
    const taken = functions.get(name);
    return !taken || (given !== undefined && (given < taken.least || given > taken.most));
  };
  expect(calls.filter(isWrong)).toEqual([]);
  expect(named.filter(({ name }) => !relations.has(name))).toEqual([]);
});

const sourceFiles = (folder: string): { file: string; text: string }[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && file !== 'database/store/functions.ts')
    .map((file) => ({ file, text: readFileSync(path.join(folder, file), 'utf8') }))
    // to parse every file would take seconds
    .filter(({ text }) => /\blanefold\.\w+\(|\b(?:from|join|into|update|table|only)\s+lanefold\./.test(text));

/** What stands for an expression in a template. */
const hole = '\u0000';

/** The strings and templates of a source file. */
function literals(source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) found.push(node.text);
    if (ts.isTemplateExpression(node))
      found.push([node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join(hole));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest));
  return found;
}

/** The functions that a text calls, with the number of arguments; undefined: an expression of the template may be several. */
function callsIn(sql: string): { name: string; given: number | undefined }[] {
  return [...sql.matchAll(/(?<![\w.])lanefold\.(\w+)\(/g)].map(({ 0: begin, 1: name, index }) => {
    const rest = sql.slice(index + begin.length);
    let depth = 1;
    let given = rest.startsWith(')') ? 0 : 1;
    for (let at = 0; at < rest.length && depth > 0; at++) {
      if (rest[at] === hole) return { name: name!, given: undefined };
      if (rest[at] === '(' || rest[at] === '[') depth++;
      if (rest[at] === ')' || rest[at] === ']') depth--;
      if (rest[at] === ',' && depth === 1) given++;
    }
    return { name: name!, given };
  });
}

test('no statement of the library takes the columns of a view as they come', () => {
  const folder = 'src/database/store';
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      [...readFileSync(path.join(folder, file), 'utf8').matchAll(/.*(select \*|\b\w+\.\*).*/g)].map(
        ([line]) => `${file}: ${line.trim()}`,
      ),
    )
    // in a subquery, or of a statement, whose own columns are named
    .filter((line) => !/from \(select \*| from act a`| from \(\$\{found\.sql\}\) t/.test(line));
  expect(found).toEqual([]);
});

test('a process that has prepared its statements works on when tables and views gain columns', async () => {
  const lanefold = await createLanefold({ databaseUrl: log.url, redisUrl: null, poolSize: 1 });
  try {
    const threadId = await newThread(log, { systemPrompt: 'p' });
    const read = async () => [
      await lanefold.threads.get(threadId),
      await lanefold.threads.entries(threadId),
      (await lanefold.runs.list({ threadId })).data,
      await lanefold.contexts.project(threadId),
    ];
    const before = await read();
    const views = await rows<{ name: string; definition: string }>(
      log.db,
      `select oid::regclass::text as name, rtrim(pg_get_viewdef(oid), ';') as definition from pg_class
       where relnamespace = 'lanefold'::regnamespace and relkind = 'v'`,
    );
    await log.pool.query('alter table lanefold.thread add column later int');
    for (const { name, definition } of views)
      await log.pool.query(`create or replace view ${name} as select q.*, 1 as later from (${definition}) q`);
    expect(await read()).toEqual(before);
  } finally {
    await lanefold.close();
  }
});
