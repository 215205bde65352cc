// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startProgram } from './program.ts';

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase()));
afterAll(() => database?.drop());

test('a reader that stops and continues has each event of a run once, and a stream its note', async () => {
  const program = startProgram('examples/durable-streams/main.ts', { env: { DATABASE_URL: database.url } });
  const { code, output, errors } = await program.ended;
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  expect(output).toMatch(/^continue at 0{16}_\d{16}$/m);
  const events = [...output.matchAll(/^(\d+) (\w+)$/gm)];
  expect(events.map(([, seq]) => Number(seq))).toEqual(events.map((_, n) => n));
  expect(events.map(([, , kind]) => kind)).toContain('request_completed');
  expect(output).toMatch(/^notes \[\{"note":"Asked for the order\."\}\]$/m);
});
