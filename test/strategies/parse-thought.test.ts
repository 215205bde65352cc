import { expect, test } from 'vitest';
import { parseThought } from '../../src/strategies/chain/parse-thought.ts';

const step = (number: number, content: string) => ({ number, content });

test.each<[string, string, string | null, { number: number; content: string }[]]>([
  [
    'what follows the first ####',
    '1. two\n2. four\n#### 4 #### sure',
    '4 #### sure',
    [step(1, 'two'), step(2, 'four')],
  ],
  ['a blank tail, which is no conclusion', '1. two\nAnswer: 4 ####  ', '4 ####', [step(1, 'two')]],
  [
    'a marked line, with all that follows',
    'Step 1: add\nStep 2) halve\nConclusion: it is\n4.',
    'it is\n4.',
    [step(1, 'add'), step(2, 'halve')],
  ],
  ['an indented marker', '1. a\n   Answer - 4', '4', [step(1, 'a')]],
  ['a phrase without a colon', '1. a\nIn conclusion, it is 4', 'it is 4', [step(1, 'a')]],
  ['a phrase in capitals', 'FINAL ANSWER 4', '4', []],
  ['nothing but a marker', '1. a\nThus:', null, [step(1, 'a')]],
  ['no marker at all', 'It is 4.', null, []],
  ['words that only begin like a marker', 'Solve for x.\nSociety: none.\nSo far so good.', null, []],
  ['a decimal at the start of a line', '3.5 is the mean.\n1. So it is', null, [step(1, 'So it is')]],
  ['numbers as written, empty ones left out', '2. a\n7)\n9: b', null, [step(2, 'a'), step(9, 'b')]],
  [
    'bullets, with what stands before them',
    'First\n- a\n• b\n* c\nHence: d',
    'd',
    [step(1, 'First'), step(2, 'a'), step(3, 'b'), step(4, 'c')],
  ],
  ['letters beyond ASCII', '1. Größe 😀 ist 4\n2. é\nSo: größer', 'größer', [step(1, 'Größe 😀 ist 4'), step(2, 'é')]],
])('reads %s', (_, text, conclusion, steps) => {
  expect(parseThought(text)).toEqual({ conclusion, steps });
});
