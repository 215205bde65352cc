// @module-tag slow
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { createLanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agents, seed } from '../../examples/sql-queries/seed.ts';
import { cliBin, startCli, type CliProcess } from '../cli/cli.ts';
import { startProgram } from '../examples/program.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { pages, snippetsOf, writePrograms, type Snippet } from './snippets.ts';

const snippets = pages.flatMap(snippetsOf);
const pagesWith = (language: string) =>
  pages.filter((page) =>
    snippets.some((snippet) => isRun(snippet) && snippet.page === page && snippet.language === language),
  );
const isRun = (snippet: Snippet) => snippet.file === undefined;
const of = (page: string, language: string) =>
  snippets.filter((snippet) => isRun(snippet) && snippet.page === page && snippet.language === language);

let folder: string;
beforeAll(() => {
  // inside the checkout, so that imports resolve, and in a folder git ignores
  mkdirSync('.lanefold', { recursive: true });
  folder = mkdtempSync(path.resolve('.lanefold/snippets-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A working folder for a page, with the files its commands use. */
function folderOf(page: string): string {
  const own = path.join(folder, page.replaceAll(/\W/g, '-'));
  mkdirSync(own, { recursive: true });
  for (const { file, text } of snippets.filter((snippet) => snippet.page === page && snippet.file)) {
    writeFileSync(path.join(own, file!), text);
  }
  return own;
}

const databases: TestDatabase[] = [];
async function freshDatabase(): Promise<TestDatabase> {
  const database = await createDatabase();
  databases.push(database);
  return database;
}
afterAll(() => Promise.all(databases.map((database) => database.drop())));

test('TypeScript runs, that of each page on a database and in a folder of its own', async () => {
  let text = '';
  for (const page of pagesWith('ts')) {
    const own = folderOf(page);
    const all = writePrograms(
      own,
      of(page, 'ts').map(({ line, text }) => ({ name: `line-${line}.ts`, text })),
    );
    const { url } = await freshDatabase();
    text += `console.log('in ${page}');\nprocess.chdir('${own}');\nprocess.env.DATABASE_URL = '${url}';\n`;
    text += `await import('${all}');\n`;
  }
  // in one process, because loading the package takes longer than most pages
  const program = path.join(folder, 'all.ts');
  writeFileSync(program, `${text}console.log('in no other page');\n`);
  const { code, output, errors } = await startProgram(program).ended;
  expect([code, errors], output).toEqual([0, '']);
  expect(output).toMatch(/^in no other page$/m);
});

describe('SQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
    const lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null, agents });
    await lanefold.startWorker();
    await seed(lanefold);
    await lanefold.close();
  });

  test.each(pagesWith('sql').flatMap((page) => of(page, 'sql')))('in $page, line $line, runs', async ({ text }) => {
    await expect(database.pool.query(text)).resolves.toBeDefined();
  });
});

const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasCurl) console.log('No curl found: the shell snippets of the guides are skipped.');

describe.skipIf(!hasCurl)('shell', () => {
  let database: TestDatabase;
  let dev: CliProcess;
  let url: string;
  beforeAll(async () => {
    database = await freshDatabase();
    dev = startCli(['dev', '--port', '0'], { env: { DATABASE_URL: database.url } });
    url = /API\s+(http:\S+)\/v1/.exec(await dev.says('stdout', 'Ctrl-C stops it.'))![1]!;
  });
  afterAll(async () => {
    dev.process.kill('SIGTERM');
    await dev.ended;
  });

  test.each(pagesWith('sh'))('in %s runs', async (page) => {
    const script = [
      'set -e',
      // what npx does, without its lookup
      `npx() { shift; "${process.execPath}" "${cliBin()}" "$@"; }`,
      // fail on a response of 400 or above
      'curl() { command curl --fail-with-body --max-time 30 "$@"; }',
      ...of(page, 'sh').map(({ text }) => text.replaceAll('http://127.0.0.1:4100', url)),
    ].join('\n');
    const { stdout } = await promisify(execFile)('bash', ['-c', script], {
      cwd: folderOf(page),
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATABASE_URL: database.url },
    });
    expect(stdout).not.toBe('');
  });
});

test('the pages expected to have runnable snippets have some', () => {
  expect(pagesWith('ts').length).toBeGreaterThanOrEqual(4);
  expect(pagesWith('sql')).toContain('docs/reference/sql.md');
  expect(pagesWith('sh')).toEqual(expect.arrayContaining(['README.md', 'docs/start/first-hour.md']));
});
