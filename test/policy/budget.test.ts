import { describe, expect, test } from 'vitest';
import { fitNewest } from '../../src/agent/policy/cut-groups.ts';
import { groupMessages, summaryMark } from '../../src/agent/policy/groups.ts';
import { heuristicTokens } from '../../src/agent/policy/estimate.ts';
import { assistant, cut, placed, round, system, user } from './given.ts';

/** The example every number of which is known: a question, an answer, and a question that takes one tool call. */
const walkthrough = [
  user("What's 2+2?"),
  assistant('4'),
  user('Now multiply by 3'),
  ...round('c1', { expression: '12 * 3' }, '36'),
  assistant('The result is 36'),
];

describe('the heuristic', () => {
  test.each([
    [user("What's 2+2?"), 12],
    [assistant('4'), 10],
    [user('Now multiply by 3'), 14],
    [user('a'.repeat(400)), 110],
    [user('éééé'), 12],
    [round('c', { city: 'Tokyo' }, '')[0]!, 14],
    [round('c', {}, '')[0]!, 10],
    [round('c', { expression: '12 * 3' }, '')[0]!, 15],
  ])('counts a quarter of the bytes, and ten', (message, tokens) => {
    expect(heuristicTokens(message)).toBe(tokens);
  });
});

describe('the walkthrough', () => {
  const messages = placed(walkthrough);
  const groups = groupMessages(messages).map((group) => ({
    ...group,
    tokens: walkthrough.slice(group.start, group.end).reduce((sum, message) => sum + heuristicTokens(message), 0),
  }));
  const room = (tokens: number) => ({ tokens, messages: Infinity });

  test('costs 12, 10, 14, 15, 10 and 14 tokens, 75 together', () => {
    expect(walkthrough.map((message) => heuristicTokens(message))).toEqual([12, 10, 14, 15, 10, 14]);
    expect(cut(messages, {}).meta).toMatchObject({ estimated_tokens: 75, entries_included: 6, entries_total: 6 });
  });

  test('sends 2, 4 and 6 messages in its three calls', () => {
    const calls = [1, 3, 5].map((count) => cut(placed([system('Help.'), ...walkthrough.slice(0, count)]), {}));
    expect(calls.map((call) => call.sent.length)).toEqual([2, 4, 6]);
  });

  test('fits the call with its result and the answer into 40, the answer alone into 38, and leaves no hole', () => {
    const fitting = (tokens: number) => groups.slice(fitNewest(groups, room(tokens))).map((group) => group.tokens);
    expect(fitting(40)).toEqual([25, 14]);
    expect(fitting(38)).toEqual([14]);
  });

  test('keeps the newest question all the same, and says that it exceeds the budget', () => {
    const kept = cut(messages, { maxInputTokens: 40, keepLastTurns: 1 });
    expect(kept.sent).toEqual([2, 3, 4, 5]);
    expect(kept.meta).toMatchObject({ estimated_tokens: 53, over_budget: true, truncated: true, entries_included: 4 });
    const question = cut(messages, { maxInputTokens: 40, keepLastTurns: 0 });
    expect(question.sent).toEqual([2, 5]);
    expect(question.meta).toMatchObject({ estimated_tokens: 28, over_budget: false });
  });
});

describe('a cut', () => {
  const turns = (count: number) =>
    Array.from({ length: count }, (_, n) => [user(`question ${n}`.padEnd(40)), assistant('answer'.padEnd(40))]).flat();

  test('drops nothing that fits', () => {
    const kept = cut(placed(turns(5)), { maxInputTokens: 200 });
    expect(kept).toMatchObject({ dropped: [], moved: false, meta: { estimated_tokens: 200, truncated: false } });
  });

  test('drops the oldest turns and begins at a user message', () => {
    const kept = cut(placed([system('s'), ...turns(5)]), { maxInputTokens: 150, keepLastTurns: 1 });
    expect(kept.sent).toEqual([0, 5, 6, 7, 8, 9, 10]);
    expect(kept.dropped).toEqual([[1, 4]]);
    expect(kept.reasons.slice(0, 6)).toEqual([
      'system_prompt',
      'budget',
      'budget',
      'budget',
      'before_question',
      'fits',
    ]);
    expect(kept.reasons.slice(-2)).toEqual(['question', 'last_turns']);
  });

  test('counts the system prompt, the summary and the tools', () => {
    const tight = placed([system('s'.repeat(40)), ...turns(2)]);
    expect(cut(tight, { maxInputTokens: 100, keepLastTurns: 1 }).sent).toHaveLength(5);
    expect(cut(tight, { maxInputTokens: 99, keepLastTurns: 1 }).sent).toHaveLength(3);
    expect(cut(tight, { maxInputTokens: 100, keepLastTurns: 1 }, { toolTokens: 1 }).sent).toHaveLength(3);
  });

  test('leaves room for what follows, and stays where it is until that is full', () => {
    const policy = { maxInputTokens: 200, keepLastTurns: 1 };
    const first = cut(placed(turns(6)), policy, { lowWater: 0.5 });
    expect(first.dropped).toEqual([[0, 7]]);
    const later = cut(placed(turns(8)), policy, { lowWater: 0.5, dropped: first.dropped });
    expect(later).toMatchObject({ dropped: [[0, 7]], moved: false, meta: { estimated_tokens: 160, truncated: true } });
    const full = cut(placed(turns(10)), policy, { lowWater: 0.5, dropped: first.dropped });
    expect(full).toMatchObject({ dropped: [[0, 15]], moved: true });
  });

  test('never splits a tool group, wherever it falls', () => {
    const messages = placed([
      user('go'),
      ...round('a', {}, 'x'.repeat(80)),
      ...round('b', {}, 'y'.repeat(80)),
      assistant('ok'),
    ]);
    for (let tokens = 1; tokens < 100; tokens++) {
      const { included } = cut(messages, { maxInputTokens: tokens, keepLastTurns: 0 });
      expect([included[1], included[3]]).toEqual([included[2], included[4]]);
      expect(included[0]).toBe(true);
    }
  });

  test('keeps the turns it promises even over budget, unless the model takes no more', () => {
    const long = placed([
      ...turns(1),
      user('go'),
      ...Array.from({ length: 9 }, (_, n) => round(`c${n}`, {}, 'r'.repeat(80))).flat(),
    ]);
    const promised = cut(long, { maxInputTokens: 100, keepLastTurns: 1 });
    expect(promised.meta).toMatchObject({ over_budget: true, entries_included: 19 });
    const within = cut(long, { maxInputTokens: 100, keepLastTurns: 1 }, { ceiling: 100 });
    expect(within.sent).toEqual([2, 17, 18, 19, 20]);
    expect(within.dropped).toEqual([
      [0, 1],
      [3, 16],
    ]);
    expect(within.meta).toMatchObject({ over_budget: false, estimated_tokens: 90 });
  });

  test('keeps the newest tool group even if it alone is too large, and says so', () => {
    const huge = placed([user('go'), ...round('a', {}, 'r'.repeat(8_000))]);
    expect(cut(huge, { maxInputTokens: 100, keepLastTurns: 0 }, { ceiling: 100 })).toMatchObject({
      sent: [0, 1, 2],
      meta: { over_budget: true, truncated: false },
    });
  });

  test('keeps what steers the newest turn beside its question', () => {
    const messages = placed(
      [user('go'), ...round('a', {}, 'r'.repeat(400)), user('and hurry'), ...round('b', {}, 'r')],
      { 3: 'steer' },
    );
    expect(cut(messages, { maxInputTokens: 60, keepLastTurns: 0 }).sent).toEqual([0, 3, 4, 5]);
  });

  test('limits the number of messages, the prompt aside', () => {
    const kept = cut(placed([system('s'), ...turns(5)]), { maxMessages: 5, keepLastTurns: 1 });
    expect(kept.sent).toEqual([0, 7, 8, 9, 10]);
    expect(kept.reasons[1]).toBe('max_messages');
    expect(kept.reasons[6]).toBe('before_question');
  });

  test('keeps a summary and an activated skill at the start', () => {
    const messages = placed([user('In short: …'), ...round('s', {}, 'skill'), ...turns(9)], {
      0: summaryMark,
      2: 'skill_activation',
    });
    const kept = cut(messages, { maxInputTokens: 100, keepLastTurns: 1 });
    expect(kept.sent.slice(0, 3)).toEqual([0, 1, 2]);
    expect(kept.reasons.slice(0, 3)).toEqual(['summary', 'durable', 'durable']);
    expect(kept.meta.summary_used).toBe(true);
    expect(cut(messages, { summarization: 'none' }).reasons[0]).toBe('summarization');
  });

  test('leaves out kinds without calling that a cut', () => {
    const messages = placed(walkthrough);
    const kept = cut(messages, { includeKinds: ['message', 'summary'] });
    expect(kept).toMatchObject({ sent: [0, 1, 2, 5], dropped: [], meta: { truncated: false, entries_included: 4 } });
    expect(kept.reasons[3]).toBe('kind');
  });
});
