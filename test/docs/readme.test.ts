import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cli } from '../cli/cli.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const lines = (text: string) =>
  text
    .replaceAll(/thread_[0-9a-v]{26}/g, 'ID')
    .replaceAll(/\d+ ms/g, 'N ms')
    .split('\n');

test('the demo output in the README is what the demo prints', async () => {
  const shown = /```text\n([^]+?)\n```/.exec(readFileSync('README.md', 'utf8'))![1]!;
  const { code, stdout } = await cli(['demo', '--once', '--port', '0'], { env: { DATABASE_URL: database.url } });
  expect(code).toBe(0);
  const printed = lines(stdout);
  for (const line of lines(shown)) expect(printed).toContain(line);
});
