// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startProgram } from './program.ts';

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase()));
afterAll(() => database?.drop());

test('two lanes: apart, replaced, reset, switched, and the past read back', async () => {
  const { code, output, errors } = await startProgram('examples/two-lanes/main.ts', {
    env: { DATABASE_URL: database.url },
  }).ended;
  expect([code, errors]).toEqual([0, '']);
  const sections = output.trim().split('\n\n');
  expect(sections.slice(0, 4).map((section) => section.split('\n').slice(1))).toEqual([
    ['  default: system user assistant', '  scratch: system user assistant'],
    ['  default: system user assistant', '  scratch: system'],
    [],
    ['  default: system user assistant user assistant', '  scratch: system'],
  ]);
  expect(sections[2]).toBe('Active lane: scratch');
  expect(sections[4]).toContain('user: "We are naming a database. Candidates: Heron, Otter."');
});
