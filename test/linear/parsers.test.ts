// @module-tag long
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
const listed = [...new Set(Object.keys(parsers).map((key) => key.split(' ')[0]!)), ...Object.values(own).flat()];

test('each module that goes over texts is fed, or says why it need not be', () => {
  const missing = modules
    .filter(goesOver)
    .map(nameOf)
    .filter((name) => !listed.includes(name));
  expect(missing).toEqual([]);
  expect(listed.filter((name) => !modules.map(nameOf).includes(name))).toEqual([]);
});

/** What some parser has found hard, for all of them. */
const anyWorst = [
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
  '.',
  '-',
  '=',
  '&',
  '`',
  '@',
  '(',
  '#',
  'a ',
  '1. ',
  '\u2028',
  '\ufeff',
  'é',
  '\ud83d\ude00',
  '\ud800',
  '\u0000',
];

const asWorst = (worst: string | Worst): Worst => (typeof worst === 'string' ? { pump: worst } : worst);

describe.each(Object.entries(parsers))('%s', (_, { read, worst }) => {
  const takesLinearTime = (length: number) => async (hardest: Worst) =>
    expect(await growth(read, hardest, length)).toBeLessThan(tooMuch);
  const each = test.each(worst.map(asWorst));
  each('takes linear time for 100 kB of %j', takesLinearTime(100_000));
  // in which even a search of the processor shows if it begins again at each character
  each('takes linear time for 300 kB of %j', { tags: 'slow' }, takesLinearTime(300_000));
  each('takes linear time for 1 MB of %j', { tags: 'long' }, takesLinearTime(1_000_000));

  const expectLinear = async (length: number) => {
    for (const pump of anyWorst)
      for (const after of ['', '\u0000x'])
        expect(await growth(read, { pump, after }, length), JSON.stringify(pump)).toBeLessThan(tooMuch);
  };
  test('takes linear time for 30 kB of anything', { tags: 'slow' }, () => expectLinear(30_000));
  test('takes linear time for 100 kB of anything', { tags: 'long' }, () => expectLinear(100_000));
});
