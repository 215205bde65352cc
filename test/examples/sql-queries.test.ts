// @module-tag slow
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startProgram } from './program.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const queries = readFileSync('examples/sql-queries/queries.sql', 'utf8').split(/\n\n(?=-- )/);

test('every query is run and has something to show where there is something', async () => {
  const env = { DATABASE_URL: database.url };
  const { code, output, errors } = await startProgram('examples/sql-queries/main.ts', { env }).ended;
  expect([code, errors]).toEqual([0, '']);
  expect(queries).toHaveLength(10);
  for (const query of queries) expect(output).toContain(query.trim());
  expect(output).toContain('Your order A-17 is on its way.');
});

test('each query answers from the tables as they were left', async () => {
  const rows = [];
  for (const query of queries) rows.push((await database.pool.query(query)).rows as Record<string, unknown>[]);
  const [context, past, runs, talk, active, failed, tools, tokens, timeline, lanes] = rows;
  expect(context!.map((row) => row['role'])).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
  expect(past!.map((row) => row['role'])).toEqual(['system', 'user', 'assistant']);
  expect(runs!.map((row) => row['status'])).toEqual(['completed', 'completed', 'completed']);
  expect(talk).toHaveLength(2);
  expect(talk![0]).toEqual({ question: 'Where is my order A-17?', answer: 'Your order A-17 is on its way.' });
  expect([active, failed]).toEqual([[], []]);
  expect(tools).toMatchObject([{ name: 'order_status', not_ok: '0' }]);
  expect(tokens!.length).toBeGreaterThan(0);
  expect(timeline!.map((row) => row['event_seq'])).toEqual(timeline!.map((_, i) => String(i)));
  expect(lanes).toMatchObject([
    { context_ref: 'default', anchor_seq: '-1', reason: null },
    { context_ref: 'draft', reason: 'manual' },
  ]);
});

test('it can be run again on the same database', async () => {
  const { code } = await startProgram('examples/sql-queries/main.ts', { env: { DATABASE_URL: database.url } }).ended;
  expect(code).toBe(0);
});
