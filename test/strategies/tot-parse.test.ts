import { expect, test } from 'vitest';
import fc from 'fast-check';
import { parseScores, parseThoughts } from '../../src/agent/strategies/tot/tree.ts';

test.each<[string, string, string[] | undefined, string?]>([
  ['JSON', '{"thoughts": [{"id": "x", "content": " a "}, "b", {"content": ""}, 7]}', ['a', 'b'], 'json'],
  ['fenced JSON in prose', 'Sure!\n```json\n{"thoughts": ["größer 😀"]}\n```\nDone.', ['größer 😀'], 'json'],
  ['JSON after a broken fence', '{"thoughts": ["a ```json b"]}', ['a ```json b'], 'json'],
  ['a numbered list with items of several lines', 'Ideas:\n1. a\nmore\n2) b\n3: c', ['a\nmore', 'b', 'c'], 'regex'],
  ['no decimal as a number', '1. a\n3.5 is b', ['a\n3.5 is b'], 'regex'],
  ['nothing from JSON in prose without a fence', 'Here: {"thoughts": ["a"]}', undefined],
  ['nothing from prose', 'I would go left.', undefined],
])('thoughts are read from %s', (_, text, thoughts, mode) => {
  expect(parseThoughts(text)).toEqual(thoughts && { thoughts, mode });
});

test.each<[string, string, number[]]>([
  ['by id, index and content', '{"scores": {"t1": 0.8, "2": 0.1, "c": 0.3}}', [0.8, 0.1, 0.3]],
  ['a zero as zero, missing and null as 0.5', '{"scores": {"t1": 0, "t2": null}}', [0, 0.5, 0.5]],
  ['text with a number, clamped', '{"scores": {"t1": "0.7", "t2": 9, "t3": -1}}', [0.7, 1, 0]],
  ['numbers as words and other types as 0.5', '{"scores": {"t1": "high", "t2": [1], "t3": true}}', [0.5, 0.5, 0.5]],
  ['lines', '1. 0.9\n2) 0.2 because', [0.9, 0.2, 0.5]],
  ['nothing as 0.5', 'All fine.', [0.5, 0.5, 0.5]],
])('scores are read: %s', (_, text, scores) => {
  expect(parseScores(text, ['a', 'b', 'c'])).toEqual(scores);
});

test('whatever the text, thoughts are not blank and scores are between 0 and 1, one for each thought', () => {
  const part = fc.constantFrom(
    '```json',
    '```',
    '{"scores":',
    '{"thoughts":',
    '["a"]',
    '{}',
    '1. ',
    't2: ',
    '0.5',
    '\n',
    'null',
    '__proto__',
    '😀',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(part).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, fc.array(fc.string(), { minLength: 1, maxLength: 5 }), (answer, thoughts) => {
      for (const thought of parseThoughts(answer)?.thoughts ?? []) expect(thought.trim()).not.toBe('');
      const scores = parseScores(answer, thoughts);
      expect(scores).toHaveLength(thoughts.length);
      for (const score of scores) expect(score >= 0 && score <= 1).toBe(true);
    }),
  );
});

test.each([
  '['.repeat(1e6),
  '```json'.repeat(150_000),
  '1.'.repeat(5e5),
  '1.\n'.repeat(3e5),
  ' '.repeat(1e6),
  '9'.repeat(1e6),
])('1 MB is read in linear time (%#): in quadratic time this test would take minutes', (text) => {
  parseThoughts(text);
  expect(parseScores(text, ['a'])).toHaveLength(1);
});
