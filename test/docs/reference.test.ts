import { readFileSync } from 'node:fs';
import { errorStatus } from 'lanefold';
import { expect, test } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { referencePages } from './reference/pages.ts';
import { textsByCode } from './reference/errors.ts';

test('the generated parts of docs/reference are what the sources declare', async () => {
  const database = await createDatabase();
  try {
    for (const [file, text] of await referencePages(database.url))
      expect(readFileSync(file, 'utf8'), `${file}: run \`npm run docs:reference\``).toBe(text);
  } finally {
    await database.drop();
  }
});

test('every code of an error has a meaning and an advice', () => {
  const texts = textsByCode();
  expect([...texts.keys()].toSorted()).toEqual(Object.keys(errorStatus).toSorted());
  for (const [code, text] of texts) {
    expect(text.means.length, code).toBeGreaterThan(15);
    expect(text.do.length, code).toBeGreaterThan(10);
  }
});
