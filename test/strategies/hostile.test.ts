// @module-tag slow
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSearch } from '../../src/agent/strategies/aot.ts';
import { parseThought } from '../../src/agent/strategies/chain.ts';
import { parseConnections, parseVote, parseWeights } from '../../src/agent/strategies/got.ts';
import { parseScores, parseThoughts } from '../../src/agent/strategies/tot/tree.ts';

const known = new Set([1, 2]);

/** Reads a text with every parser, and checks what must hold whatever it says. */
function readEverywhere(text: string): void {
  const { steps, conclusion } = parseThought(text);
  expect(steps.every(({ content }) => content.trim() !== '')).toBe(true);
  expect(conclusion?.trim()).not.toBe('');
  expect(parseSearch(text).answer?.trim()).not.toBe('');
  expect(parseThoughts(text)?.thoughts.every((thought) => thought.trim() !== '')).not.toBe(false);
  const scores = parseScores(text, ['a', 'b']);
  const weights = [...parseWeights(text, [1, 2]).values()];
  expect([...scores, ...weights].every((number) => number >= 0 && number <= 1)).toBe(true);
  expect([undefined, 1, 2]).toContain(parseVote(text, known));
  expect(parseConnections(text, known).every(({ from, to }) => known.has(from) && known.has(to))).toBe(true);
}

describe('what a model may answer', () => {
  const part = fc.constantFrom(
    ...[
      '```json',
      '```',
      '{"thoughts": ["a"]}',
      '{"scores": {"t1": "nine"}}',
      '{"scores": {"1": 1e999}}',
      '{',
      '}',
      '[',
    ],
    ...[
      '1. ',
      'one: ',
      '2) zwei\n',
      'three',
      '- ',
      '\n',
      '\r\n',
      ' ',
      '####',
      'Answer:',
      'ANSWER：',
      'So',
      'Thus: ',
      ': ',
    ],
    ...['SCORE: ten', 'VOTE: [1]', 'vote two', 'WEIGHT: [2]: -3', 'WEIGHT: [1]: 1e9', 'CONNECTION: [1] -> [2] : x'],
    ...['CONNECTION: [9] -> [1] : y', 'größer 😀', '\u{10FFFF}', '\ud800', '\u202e', '９', '٣. ', '<question>', '\0'],
  );
  test('is read by every parser', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string({ unit: 'binary' })), { maxLength: 30 }), (parts) =>
        readEverywhere(parts.join('')),
      ),
    );
  });

  test('prose around JSON hides it, a fence does not', () => {
    expect(parseThoughts('Sure: {"thoughts": ["a"]}')).toBeUndefined();
    expect(parseThoughts('Sure:\n```json\n{"thoughts": ["a"]}\n```\nDone.')?.thoughts).toEqual(['a']);
  });

  const lines = ['CONNECTION: [1] -> [2]', 'VOTE: ', 'WEIGHT: [1]', '1. ', '- ', 'Thus', 'Answer', '####', 'step 1'];
  test.each([
    ...lines.map((line) => line.padEnd(1e6)),
    ...lines.map((line) => line.repeat(1e6 / line.length)),
    ...lines.map((line) => `${line}\n`.repeat(5e5 / line.length)),
    '"'.repeat(1e6),
    '{"a":'.repeat(2e5),
    '\n \n'.repeat(3e5),
  ])('1 MB is read in linear time (%#): in quadratic time this test would take minutes', (text) =>
    readEverywhere(text),
  );
});
