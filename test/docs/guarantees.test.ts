import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checks } from '../../src/chaos/checks/index.ts';
import { between, campaignTable, documents, plain } from './campaign.ts';

const page = readFileSync('docs/guarantees.md', 'utf8');

test('every test that the guarantees name is there', () => {
  const named = [...page.matchAll(/\]\(\.\.\/(test\/[^)]+)\)/g)].map((match) => match[1]!);
  expect(named.length).toBeGreaterThan(15);
  for (const file of named) expect(existsSync(file), file).toBe(true);
});

test('every invariant that is checked is a promise of the page, and names a test', () => {
  for (const { invariant } of checks) {
    const row = page.split('\n').find((line) => line.startsWith(`| ${invariant} `));
    expect(row, invariant).toContain('](../test/');
  }
});

test.each(['README.md', 'docs/guarantees.md'])('the campaign in %s is the one that was kept', (file) => {
  expect(plain(between(file))).toContain(plain(campaignTable()));
});

test('the campaign that is kept broke no promise', () => {
  expect(documents.length).toBeGreaterThan(0);
  for (const campaign of documents.flatMap((document) => document.campaigns)) {
    expect(campaign).toMatchObject({ lost: 0, duplicated: 0, finished_tools_repeated: 0, orphan_calls: 0, hung: 0 });
    expect(campaign.violations).toEqual([]);
  }
});
