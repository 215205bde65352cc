import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLog, type TestLog } from '../db/helpers.ts';
import { breakFunctions, replaceEach } from './change.ts';
import { mutants } from './mutants.ts';

test('no two mistakes have one name', () => {
  const names = mutants.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});

describe('each mistake changes what is there', () => {
  let log: TestLog;
  beforeAll(async () => {
    log = await openLog({ connections: 1 });
  });
  afterAll(() => log?.drop());

  test.each(mutants)('$name', async ({ sql = {}, source = {} }) => {
    for (const [file, replacements] of Object.entries(source))
      replaceEach(readFileSync(file, 'utf8'), file, replacements);
    const query = (text: string, values?: unknown[]) => log.pool.query(text, values);
    for (const statement of await breakFunctions(query, sql)) await query(statement);
  });
});
