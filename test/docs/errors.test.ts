import { readFileSync } from 'node:fs';
import { errorStatus } from 'lanefold';
import { expect, test } from 'vitest';

const page = readFileSync('docs/errors.md', 'utf8');
const rows = [...page.matchAll(/^\| `(\w+)` +\| (\d{3}) +\| (.+?) +\| (.+?) +\|$/gm)];

test('the page has every code once, with the status the API answers', () => {
  expect(rows.map(([, code]) => code)).toHaveLength(new Set(rows.map(([, code]) => code)).size);
  expect(Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]))).toEqual(errorStatus);
});

test('and says of each what it means and what to do', () => {
  for (const [, code, , meaning, advice] of rows) {
    expect(meaning!.length, code).toBeGreaterThan(15);
    expect(advice!.length, code).toBeGreaterThan(10);
  }
});

test('the README and the guides name no code that does not exist', () => {
  const known = new Set(Object.keys(errorStatus));
  for (const file of [
    'README.md',
    'docs/concepts.md',
    'docs/getting-started.md',
    'docs/approval.md',
    'docs/operating.md',
    'docs/sql.md',
  ]) {
    // a code is linked to this page where it is mentioned
    for (const [, code] of readFileSync(file, 'utf8').matchAll(/\[`(\w+)`\]\((?:docs\/)?errors\.md/g)) {
      expect(known, `${file}: ${code}`).toContain(code);
    }
  }
});
