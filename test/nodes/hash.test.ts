import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashText } from '../../src/database/nodes/placements.ts';
import { cases } from '../support/cases.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase({ empty: true })));
afterAll(() => database.drop());

test('a text has the hash that PostgreSQL gives it', async () => {
  const storable = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => !text.includes('\0'));
  const texts = fc.sample(storable, cases(500)).filter((text) => text.isWellFormed());
  const all = [...texts, ...Array.from({ length: 30 }, (_, length) => 'x'.repeat(length))];
  const { rows } = await database.pool.query<{ hash: number }>(
    'select hashtext(t collate "C") as hash from unnest($1::text[]) with ordinality u (t, n) order by n',
    [all],
  );
  expect(all.map(hashText)).toEqual(rows.map(({ hash }) => hash));
});
