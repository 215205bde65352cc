import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { growth, tooMuch, type Worst } from './growth.ts';
import { literalsOf, modules } from './literals.ts';
import { own } from './own.ts';
import { parsers } from './parsers.ts';

/** Whether a module goes over texts by place; literals.test.ts shows that a pattern alone takes linear time. */
function goesOver(file: string): boolean {
  const text = readFileSync(file, 'utf8');
  if (/\.(lastI|i)ndexOf\(|\.char(Code)?At\(|\.codePointAt\(|\.split\(('\\n'|\/)/.test(text)) return true;
  // parsing takes longer than looking for what may be the end of such a pattern
  return /\/[dimsuv]*[gy]/.test(text) && literalsOf(file).some(({ flags }) => /[gy]/.test(flags));
}

const nameOf = (file: string): string => path.relative('src', file).split(path.sep).join('/');
const listed = [...Object.keys(parsers), ...Object.values(own).flat()];

test('each module that goes over texts is fed, or says why it need not be', () => {
  const missing = modules
    .filter(goesOver)
    .map(nameOf)
    .filter((name) => !listed.includes(name));
  expect(missing).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed.filter((name) => !modules.map(nameOf).includes(name))).toEqual([]);
});

/** What some parser has found hard, for all of them. */
const anyWorst = [
  ...[
    'a',
    'A',
    '0',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '"',
    '\\',
    '\\"',
    '<',
    '< ',
    '{{',
    '{{ ',
    '[',
    '{"a":',
    '*',
    '/',
    ':',
    ',',
  ],
  ...['.', '-', '=', '&', '`', '@', '(', '#', 'a ', '1. ', '\u2028', '\ufeff', 'é', '\ud83d\ude00', '\ud800', '\u0000'],
];

const asWorst = (worst: string | Worst): Worst => (typeof worst === 'string' ? { pump: worst } : worst);

describe.each(Object.entries(parsers))('%s', (_, { read, worst }) => {
  test.each(worst.map(asWorst))('takes linear time for 100 kB of %j', async (hardest) => {
    expect(await growth(read, hardest, 100_000)).toBeLessThan(tooMuch);
  });

  test.each(worst.map(asWorst))('takes linear time for 1 MB of %j', { tags: 'long' }, async (hardest) => {
    expect(await growth(read, hardest, 1_000_000)).toBeLessThan(tooMuch);
  });

  test('takes linear time for 100 kB of anything', { tags: 'slow' }, async () => {
    for (const pump of anyWorst)
      for (const after of ['', '\u0000x'])
        expect(await growth(read, { pump, after }, 100_000), JSON.stringify(pump)).toBeLessThan(tooMuch);
  });
});
