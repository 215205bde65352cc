import fc from 'fast-check';
import { expect, test } from 'vitest';
import { durableMark, groupMessages, summaryMark } from '../../src/agent/policy/groups.ts';
import { heuristicTokens } from '../../src/agent/policy/estimate.ts';
import { planCompaction, type CompactionScope, summaryInstruction } from '../../src/agent/policy/compaction.ts';
import type { Message } from '../../src/agent/context/message.ts';
import { assistant, placed, round, user } from './given.ts';

const plan = (messages: Message[], scope: CompactionScope = {}, marks: Record<number, string> = {}) => {
  const all = placed(messages, marks);
  return planCompaction(
    all,
    all.map(({ message }) => heuristicTokens(message)),
    scope,
  );
};
const talk = [
  user('one'),
  assistant('1'),
  user('two'),
  ...round('a', {}, 'x'),
  assistant('2'),
  user('three'),
  assistant('3'),
];

test('summarises all but the newest turns, and a summary with the rest', () => {
  expect(plan(talk)).toMatchObject({ keep: [[6, 7]], at: 0, entries: [0, 5], covered: [0, 1, 2, 3, 4, 5] });
  expect(plan(talk, { keepTurns: 2 })).toMatchObject({ keep: [[2, 7]], covered: [0, 1] });
  expect(plan(talk, { keepTurns: 3 })).toBeUndefined();
  expect(plan(talk, {}, { 0: summaryMark })).toMatchObject({ covered: [0, 1, 2, 3, 4, 5] });
});

test('leaves a context alone in which only a summary could be summarised', () => {
  expect(plan([user('In short …'), user('two'), assistant('2')], {}, { 0: summaryMark })).toBeUndefined();
  expect(plan([])).toBeUndefined();
  expect(plan([user('one')])).toBeUndefined();
});

test('summarises inside the newest turn where that alone is too large, around its question', () => {
  const long = [
    user('go'),
    ...round('a', {}, 'x'.repeat(400)),
    ...round('b', {}, 'y'.repeat(400)),
    ...round('c', {}, 'z'),
  ];
  expect(plan(long, { room: 150 })).toMatchObject({
    keep: [
      [0, 0],
      [3, 6],
    ],
    at: 1,
    covered: [1, 2],
  });
  expect(plan(long, { room: 1 })).toMatchObject({
    keep: [
      [0, 0],
      [5, 6],
    ],
    covered: [1, 2, 3, 4],
  });
});

test('summarises a range of entries: whole groups, in their place', () => {
  expect(plan(talk, { range: [1, 2] })).toMatchObject({
    keep: [
      [0, 0],
      [3, 7],
    ],
    at: 1,
    entries: [1, 2],
  });
  expect(plan(talk, { range: [3, 3] })).toBeUndefined();
  expect(plan(talk, { range: [2, 3] })).toMatchObject({ covered: [2] });
});

test('leaves what is durable where it is', () => {
  expect(plan(talk, {}, { 4: durableMark })).toMatchObject({
    keep: [
      [3, 4],
      [6, 7],
    ],
    at: 0,
    covered: [0, 1, 2, 5],
  });
});

test('tells the model which messages its summary replaces', () => {
  const instruction = (messages: Message[], scope: CompactionScope) =>
    summaryInstruction(placed(messages), plan(messages, scope)!);
  expect(instruction(talk, {})).toContain('everything before the message "three"');
  expect(instruction(talk, { range: [1, 2] })).toContain('from the message "1" to the message "two", both included');
  const rounds = [user('one'), ...round('a', { day: 1 }, 'x'), ...round('b', { day: 2 }, 'y')];
  expect(instruction(rounds, { range: [0, 2] })).toContain('everything before the tool call calculator({"day":2})');
  const image: Message = { role: 'user', content: [{ type: 'file', media_type: 'image/png', data: 'AA==' }] };
  expect(instruction([user('one'), assistant('1'), image], {})).toContain('before the user message without text');
});

const message = fc.oneof(
  fc.string({ maxLength: 80 }).map((text) => [user(text)]),
  fc.string({ maxLength: 80 }).map((text) => [assistant(text)]),
  fc.string({ maxLength: 80 }).map((text) => round('a', {}, text)),
);

test('a compaction keeps groups whole and the newest question, and covers the rest exactly once', () => {
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 12 }),
      fc.nat(3),
      fc.integer({ min: 1, max: 300 }),
      (parts, keepTurns, room) => {
        const messages = parts.flat();
        const found = plan(messages, { keepTurns, room });
        if (!found) return;
        const kept = found.keep.flatMap(([first, last]) => messages.slice(first, last + 1).map((_, i) => first + i));
        expect([...kept, ...found.covered].sort((a, b) => a - b)).toEqual(messages.map((_, i) => i));
        const question = messages.findLastIndex(({ role }) => role === 'user');
        if (question >= 0) expect(kept).toContain(question);
        for (const group of groupMessages(placed(messages))) {
          const inside = found.covered.filter((i) => i >= group.start && i < group.end).length;
          expect([0, group.end - group.start]).toContain(inside);
        }
      },
    ),
  );
});
