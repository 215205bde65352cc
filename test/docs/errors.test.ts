import { readFileSync } from 'node:fs';
import { errorStatus } from 'lanefold';
import { expect, test } from 'vitest';
import { pages } from './snippets.ts';

const page = readFileSync('docs/reference/errors.md', 'utf8');
const rows = [...page.matchAll(/^\| `(\w+)` +\| (\d{3}) +\| (.+?) +\| (.+?) +\|$/gm)];

test('lists every code once, with its HTTP status', () => {
  expect(rows.map(([, code]) => code)).toHaveLength(new Set(rows.map(([, code]) => code)).size);
  expect(Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]))).toEqual(errorStatus);
});

test('the README and the guides link only to codes that exist', () => {
  const known = new Set(Object.keys(errorStatus));
  for (const file of pages) {
    // a mentioned code is a link to this page
    for (const [, code] of readFileSync(file, 'utf8').matchAll(/\[`(\w+)`\]\((?:[\w/.-]*\/)?errors\.md/g)) {
      expect(known, `${file}: ${code}`).toContain(code);
    }
  }
});
