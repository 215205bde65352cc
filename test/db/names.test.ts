import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createLanefold } from 'lanefold';
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
    .filter((line) => !/from \(select \*| from act a`/.test(line));
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
