import { describe, expect, test } from 'vitest';
import { crashEverywhere, simulate, type SimulatedCall } from 'lanefold/testing';
import { parseSupervision, trm } from '../../src/agent/strategies/trm.ts';

/** The answers are A0, A1, …; the n-th supervised one gets the n-th score. */
function script(scores: readonly number[]) {
  const numberOf = (text: string) => Number(/<answer>\nA(\d+)/.exec(text)?.[1] ?? -1);
  return ({ messages, prompt }: SimulatedCall): string => {
    const system = messages[0]!.content as string;
    if (system.includes('Judge')) return `ISSUE: too short\nSCORE: ${scores[numberOf(prompt)] ?? 0}`;
    if (system.includes('Rewrite')) return `A${numberOf(prompt) + 1}`;
    return numberOf(prompt) < 0 ? 'A0' : 'Insights.';
  };
}

const run = (scores: readonly number[], options: object = {}) =>
  simulate(trm, { question: 'Q', options: { evaluateLast: false, ...options }, answer: script(scores) });

describe('recursive improvement', () => {
  test.each<[string, number[], object, string, string, number]>([
    ['stops at the threshold', [0.5, 0.7, 0.95], {}, 'act_threshold', 'A2', 9],
    ['stops where scores no longer change', [0.5, 0.505, 0.51], {}, 'convergence_detected', 'A2', 9],
    ['stops after its steps, with the best answer', [0.4, 0.6, 0.5, 0.3, 0.2], {}, 'max_steps', 'A1', 15],
    ['returns the current answer where no score is above 0', [0, 0, 0], {}, 'convergence_detected', 'A3', 9],
    ['returns the first answer after one step', [0.5], { maxSupervisionSteps: 1 }, 'max_steps', 'A0', 3],
    [
      'evaluates the last improvement, which may be the best',
      [0.5, 0.8],
      { maxSupervisionSteps: 1, evaluateLast: true },
      'max_steps',
      'A1',
      4,
    ],
    [
      'keeps the best where the last improvement is worse',
      [0.95, 0.1],
      { evaluateLast: true },
      'act_threshold',
      'A0',
      4,
    ],
    ['clamps its threshold', [1], { actThreshold: 7 }, 'act_threshold', 'A0', 3],
  ])('%s', (_, scores, options, reason, result, calls) => {
    const done = run(scores, options);
    expect(done.finish).toMatchObject({ status: 'completed', reason, result });
    expect(done.calls).toHaveLength(calls);
  });

  test('a model error fails the run and keeps the answer with the best score', () => {
    const answer = script([0.8, 0.4]);
    const judged = { times: 0 };
    const done = simulate(trm, {
      question: 'Q',
      answer(call) {
        const said = answer(call);
        if (said.startsWith('ISSUE')) judged.times += 1;
        return judged.times > 2 ? new Error('gone') : said;
      },
    });
    expect(done.finish).toMatchObject({ status: 'failed', reason: 'error', result: 'A0' });
  });

  test('the answers are nodes with their scores', () => {
    const { store } = run([0.5, 0.95]);
    const improved = [...store.nodes.values()].filter(({ score }) => score !== undefined);
    expect(improved.map(({ kind, content, score }) => [kind, content, score])).toEqual([
      ['reason', 'A0', 0.5],
      ['improve', 'A1', 0.95],
    ]);
  });

  test('ends the same wherever the worker crashes', () => {
    crashEverywhere(trm, { question: 'Q', answer: script([0.5, 0.7, 0.95, 0.9]) });
  });
});

test.each<[string, string, number]>([
  ['a score as written', 'SCORE: 0.7', 0.7],
  ['a bold one', '**Score**: **0.85**', 0.85],
  ['8/10 as 1', 'Score: 8/10', 1],
  ['the first with a number', 'The score is below.\nSCORE 0.4', 0.4],
  ['strengths only', 'STRENGTH: short\nSTRENGTH: right', 0.8],
  ['more strengths', 'STRENGTH: a\nGOOD: b\nISSUE: c', 0.65],
  ['more issues', 'STRENGTH: a\nISSUE: b\nPROBLEM: c', 0.45],
  ['many issues', 'ISSUE: b\nPROBLEM: c', 0.3],
  ['incorrect as an issue alone', 'INCORRECT: the sum', 0.3],
  ['prose as neither', 'It is correct and good, scoreboards aside.', 0.5],
  ['the same issue twice as one', 'STRENGTH: x\nISSUE: a\nISSUE: a', 0.5],
])('a supervision is read: %s', (_, text, score) => {
  expect(parseSupervision(text).score).toBe(score);
});

test('suggestions come in order of what they promise', () => {
  const long = 'x'.repeat(101);
  const { suggestions } = parseSupervision(`SUGGESTION: a\nSUGGESTION: ${long}\nSUGGESTION: this must change`);
  expect(suggestions).toEqual(['this must change', long, 'a']);
});

test.each(['score'.padEnd(1e6), 'score '.repeat(160_000), `- ${'*'.repeat(1e6)}`, 'ISSUE'.repeat(200_000)])(
  '1 MB is read in linear time (%#): in quadratic time this test would take minutes',
  (text) => {
    expect(parseSupervision(text).score).toBe(0.5);
  },
);
