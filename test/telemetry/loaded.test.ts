// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProgram } from '../examples/program.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase()));
afterAll(() => database?.drop());

test('nothing of telemetry, metrics or JSON logs is loaded where nobody asks for it', async () => {
  const program = startProgram('test/telemetry/fixtures/loaded.ts', { env: { DATABASE_URL: database.url } });
  const { code, output, errors } = await program.ended;
  expect(code, errors).toBe(0);
  const [silent, all] = output.trim().split('\n');
  expect(JSON.parse(silent!)).toEqual([]);
  // which shows that the first run would have been noticed
  expect(JSON.parse(all!)).toEqual(['@opentelemetry/api', 'pino', 'prom-client']);
});
