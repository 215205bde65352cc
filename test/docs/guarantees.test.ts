import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checks } from '../../src/ops/chaos/run-checks.ts';
import { historyChecks } from '../../src/ops/chaos/history.ts';
import { operationChecks } from '../../src/ops/history/check-history.ts';
import { mutants } from '../history/mutants/mutants.ts';
import { between, campaigns, campaignTable, plain } from './campaign.ts';

const page = readFileSync('docs/reference/proofs.md', 'utf8');

test('every test named by a guarantee exists', () => {
  const named = [...page.matchAll(/\]\(\.\.\/\.\.\/(test\/[^)]+)\)/g)].map((match) => match[1]!);
  expect(named.length).toBeGreaterThan(15);
  for (const file of named) expect(existsSync(file), file).toBe(true);
});

test('every checked invariant has a row that names a test', () => {
  for (const { invariant } of [...checks, ...historyChecks]) {
    const row = page.split('\n').find((line) => line.startsWith(`| ${invariant} `));
    expect(row, invariant).toContain('](../../test/');
  }
});

test('the campaign table matches campaigns.jsonl', () => {
  expect(plain(between('docs/run/guarantees.md'))).toContain(plain(campaignTable()));
});

test('the published campaigns have no violation', () => {
  expect(new Set(campaigns.map(({ queue }) => queue))).toEqual(new Set(['postgres', 'redis']));
  for (const campaign of campaigns) {
    expect(campaign).toMatchObject({ lost: 0, duplicated: 0, finished_tools_repeated: 0, orphan_calls: 0, hung: 0 });
    expect(campaign.violations).toEqual([]);
  }
});

/** The rows of the table in a section of the page, without its header. */
const rowsIn = (section: string): string[] =>
  plain(new RegExp(`<!-- ${section} -->\n([^]*?)<!-- /${section} -->`).exec(page)![1]!)
    .split('\n')
    .slice(2);

test('the page has every check of a history, and every mutant with the check that catches it', () => {
  expect(rowsIn('checks')).toEqual(operationChecks.map(({ name, promise }) => `| \`${name}\` | ${promise} |`));
  expect(rowsIn('mutants')).toEqual(mutants.map(({ name, caughtBy }) => `| ${name} | \`${caughtBy}\` |`));
});
