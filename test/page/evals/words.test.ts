import { describe, expect, test } from 'vitest';
import type { Score } from 'lanefold/evals';
import { lostIn, type Comparison, type KeptCase } from '../../../page/views/evals/report.ts';
import { fails, totalOf } from '../../../page/views/answers/scores.ts';
import { badgesOf } from '../../../page/views/evals/words.ts';

const comparison: Comparison = {
  baseline: 'base',
  candidate: 'v1',
  verdict: 'no_difference',
  cases: 8,
  unpaired: 0,
  difference: { mean: 0, low: 0, high: 0 },
  better: 0,
  worse: 0,
  same: 8,
  by_tag: [],
  by_case: [],
};

describe('the badges of a verdict', () => {
  test('are the verdict alone where nothing costs or takes more', () => {
    expect(badgesOf(comparison, { fails: false })).toEqual([['idle', 'no difference']]);
  });

  test('do not call a variant the same that costs or takes more', () => {
    expect(badgesOf(comparison, { fails: false, cost: 3.14 })).toEqual([['bad', 'same scores, costs 3.1×']]);
    expect(badgesOf({ ...comparison, same: 7 }, { fails: false, cost: 2, p50: 1.5 })).toEqual([
      ['bad', 'no difference in scores, costs 2.0×, takes 1.5×'],
    ]);
  });

  test('keep a verdict beside what it costs', () => {
    expect(badgesOf({ ...comparison, verdict: 'better' }, { fails: false, cost: 2 })).toEqual([
      ['good', 'better'],
      ['bad', 'costs 2.0×'],
    ]);
  });
});

describe('where a variant got worse', () => {
  const ids = ['a', 'b', 'c', 'd'];
  const answer = { answer: null, reasons: [] };
  const compared = (differences: number[]): Comparison => ({
    ...comparison,
    worse: differences.filter((one) => one < 0).length,
    by_tag: [{ tag: 'returns', cases: 4, worse: 2, difference: { mean: -0.5 } }],
    by_case: differences.map((difference, at) => ({
      case_id: ids[at]!,
      tags: ['returns'],
      baseline: 1,
      candidate: 1 + difference,
      difference,
      baseline_answer: answer,
      candidate_answer: answer,
    })),
  });
  const cases = new Map(
    ids.map((id, at): [string, KeptCase] => [id, { question: id, split: at < 2 ? 'german' : 'english' }]),
  );
  const namesOf = (differences: number[]) => lostIn(compared(differences), cases).map(({ tag }) => tag);

  test('the part that has all of it comes first', () => {
    expect(namesOf([-1, -1, 0, 0])).toEqual(['german', 'returns']);
  });

  test('a part is not named if other parts lost, too', () => {
    expect(namesOf([-1, 0, -1, 0])).toEqual(['returns']);
  });
});

describe('the total of an answer', () => {
  const scored = (...scores: (number | null)[]) => ({
    status: 'done' as const,
    scores: scores.map((score): Score => ({ scorer: 's', version: null, score, reason: null, error: null })),
  });

  test('is the mean of the scores that apply; one below the pass mark fails it', () => {
    expect([totalOf(scored(1, 0.4, null)), fails(scored(1, 0.4, null))]).toEqual([0.7, true]);
    expect([totalOf(scored(0.5)), fails(scored(0.5))]).toEqual([0.5, false]);
  });

  test('is 0 for a failed run, and none without a score or before the end', () => {
    expect(totalOf({ status: 'failed', scores: [] })).toBe(0);
    expect(totalOf(scored(null))).toBeNull();
    expect(totalOf({ ...scored(1), status: 'scoring' })).toBeNull();
  });
});
