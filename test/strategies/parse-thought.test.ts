import { expect, test } from 'vitest';
import { parseThought } from '../../src/agent/strategies/chain.ts';

const step = (number: number, content: string) => ({ number, content });

test.each<[string, string, string | null, { number: number; content: string }[]]>([
  [
    'the conclusion after the first ####',
    '1. two\n2. four\n#### 4 #### sure',
    '4 #### sure',
    [step(1, 'two'), step(2, 'four')],
  ],
  ['no conclusion from a blank text after ####', '1. two\nAnswer: 4 ####  ', '4 ####', [step(1, 'two')]],
  [
    'a marked line and everything after it',
    'Step 1: add\nStep 2) halve\nConclusion: it is\n4.',
    'it is\n4.',
    [step(1, 'add'), step(2, 'halve')],
  ],
  ['an indented marker', '1. a\n   Answer - 4', '4', [step(1, 'a')]],
  ['a phrase without a colon', '1. a\nIn conclusion, it is 4', 'it is 4', [step(1, 'a')]],
  ['a phrase in capitals', 'FINAL ANSWER 4', '4', []],
  ['a marker without a conclusion', '1. a\nThus:', null, [step(1, 'a')]],
  ['no marker at all', 'It is 4.', null, []],
  ['no marker into words that merely start like one', 'Solve for x.\nSociety: none.\nSo far so good.', null, []],
  ['no step number into a decimal', '3.5 is the mean.\n1. So it is', null, [step(1, 'So it is')]],
  ['step numbers as written, without empty steps', '2. a\n7)\n9: b', null, [step(2, 'a'), step(9, 'b')]],
  [
    'bullets, and the text before them',
    'First\n- a\n• b\n* c\nHence: d',
    'd',
    [step(1, 'First'), step(2, 'a'), step(3, 'b'), step(4, 'c')],
  ],
  ['letters outside ASCII', '1. Größe 😀 ist 4\n2. é\nSo: größer', 'größer', [step(1, 'Größe 😀 ist 4'), step(2, 'é')]],
])('reads %s', (_, text, conclusion, steps) => {
  expect(parseThought(text)).toEqual({ conclusion, steps });
});
