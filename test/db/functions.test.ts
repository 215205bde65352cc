import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { databaseFunctions, functionsFile } from './generate-functions.ts';

test('the functions that the store calls are those of the database', async () => {
  const database = await createDatabase();
  try {
    expect(await readFile(functionsFile, 'utf8'), 'run `npm run types:db`').toBe(await databaseFunctions(database.url));
  } finally {
    await database.drop();
  }
});
