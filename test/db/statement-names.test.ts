import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(path.join('src', file), 'utf8'));

const found = (pattern: RegExp): string[] =>
  sources.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name!));

// PostgreSQL prepares a statement under its name, once for each connection
test('no two statements have one name', () => {
  const spelled = found(/\(\s*(?:db,\s*)?'(\w+)',\s*[`'"]\s*(?:select|with|insert|update|delete)\b/g);
  // generated calls are named for their function and have one text each
  const called = new Set(found(/\bcall(?:Rows)?\(\s*[\w.()]+,\s*'(\w+)'/g));
  expect(spelled.length).toBeGreaterThan(20);
  expect(called.size).toBeGreaterThan(50);
  const names = [...called, ...spelled].toSorted();
  expect(names.filter((name, n) => name === names[n - 1])).toEqual([]);
});
