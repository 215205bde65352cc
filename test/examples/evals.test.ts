// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startProgram } from './program.ts';

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase()));
afterAll(() => database?.drop());

test('the worse version fails the build, with a report', async () => {
  const { code, output, errors } = await startProgram('examples/evals/main.ts', { env: { DATABASE_URL: database.url } })
    .ended;
  expect([code, errors]).toEqual([1, expect.stringContaining('pass_rate')]);
  expect(output).toMatch(/^\| `?a`? .*100/m);
  expect(output).toMatch(/^\| `?b`? .*\b0/m);
});
