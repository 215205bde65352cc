import fc from 'fast-check';
import { compareVariants, reportOf, type EvalItem } from 'lanefold/evals';
import { describe, expect, test } from 'vitest';
import { itemOf, repeatsOf, scoreOf } from './items.ts';

const ids = (n: number) => Array.from({ length: n }, (_, i) => `case_${String(i).padStart(3, '0')}`);
const compare = (items: EvalItem[], options: { resamples?: number } = {}) =>
  compareVariants(items, { baseline: 'a', candidate: 'b', ...options });
/** Cases with these scores per repeat, under both variants. */
const bothOf = (cases: [number[], number[]][], fields: Partial<EvalItem> = {}) =>
  ids(cases.length).flatMap((id, i) => [
    ...repeatsOf(id, 'a', cases[i]![0], fields),
    ...repeatsOf(id, 'b', cases[i]![1], fields),
  ]);

describe('a variant', () => {
  test('counts items by the rule', () => {
    const judged = (score: number | null, error: string | null = null) => scoreOf(score, { scorer: 'judge', error });
    const items = [
      itemOf({ caseId: 'mean', scores: [scoreOf(1), judged(0.6)], durationMs: 100 }),
      itemOf({ caseId: 'one low', scores: [scoreOf(1), judged(0.4)], durationMs: 300, diverged: 'call 2' }),
      itemOf({ caseId: 'null is no score', scores: [scoreOf(0.5), judged(null)], durationMs: 200, reused: true }),
      itemOf({
        caseId: 'failed',
        status: 'failed',
        scores: [],
        error: 'no answer',
        durationMs: null,
        costMicros: null,
      }),
      itemOf({ caseId: 'unscored', scores: [scoreOf(null), judged(null, 'broken')], durationMs: 400 }),
      itemOf({ caseId: 'erased', status: 'erased', scores: [scoreOf(1)] }),
      itemOf({ caseId: 'scoring', status: 'scoring', scores: [scoreOf(1)] }),
    ];
    expect(reportOf(items).variants).toEqual([
      {
        variant: 'a',
        items: 7,
        scored: 4,
        passed: 2,
        passRate: 0.5,
        score: (0.8 + 0.7 + 0.5 + 0) / 4,
        scorers: [
          { scorer: 'answer', score: 2.5 / 3, scored: 3, notApplicable: 1, errors: 0 },
          { scorer: 'judge', score: 0.5, scored: 2, notApplicable: 1, errors: 1 },
        ],
        failures: 1,
        skipped: 0,
        erased: 1,
        unscored: 1,
        pending: 1,
        diverged: 1,
        reused: 1,
        costMicros: 480,
        unpriced: 1,
        inputTokens: 450,
        outputTokens: 40,
        estimatedTokens: 0,
        p50Ms: 200,
        p95Ms: 400,
      },
    ]);
  });

  test('without items that count has no rates', () => {
    const [variant] = reportOf([itemOf({ status: 'waiting', durationMs: null, costMicros: null })]).variants;
    expect(variant).toMatchObject({
      passRate: null,
      score: null,
      costMicros: null,
      p50Ms: null,
      pending: 1,
      unpriced: 0,
    });
  });
});

describe('a comparison', () => {
  test('pairs by case and repeat, and leaves out what has no partner', () => {
    const items = [
      ...repeatsOf('both', 'a', [1, 0.5]),
      ...repeatsOf('both', 'b', [0, 0.5, 1]),
      ...repeatsOf('only a', 'a', [1]),
      ...repeatsOf('erased in b', 'a', [1]),
      ...repeatsOf('erased in b', 'b', [1], { status: 'erased' }),
    ];
    expect(compare(items)).toMatchObject({ cases: 1, pairs: 2, unpaired: 3, difference: { mean: -0.5 }, worse: 1 });
  });

  test('gives each case the same weight, however many repeats it has', () => {
    const items = bothOf([
      [
        [1, 1, 1],
        [0, 0, 0],
      ],
      [[0], [1]],
    ]);
    expect(compare(items)).toMatchObject({ difference: { mean: 0 }, better: 1, worse: 1, same: 0 });
  });

  test('lists the cases that lost most first, with the answers of their worst repeat', () => {
    const reason = scoreOf(0, { reason: 'wrong sum' });
    const items = [
      ...repeatsOf('same', 'a', [1]),
      ...repeatsOf('same', 'b', [1]),
      ...repeatsOf('lost', 'a', [1, 1]),
      itemOf({ caseId: 'lost', variant: 'b', repeat: 1 }),
      itemOf({ caseId: 'lost', variant: 'b', repeat: 2, answer: '7 €', scores: [reason] }),
      ...repeatsOf('failed', 'a', [1]),
      itemOf({ caseId: 'failed', variant: 'b', status: 'failed', answer: null, scores: [], error: 'timeout' }),
    ];
    const { byCase } = compare(items);
    expect(byCase.map(({ caseId, difference }) => [caseId, difference])).toEqual([
      ['failed', -1],
      ['lost', -0.5],
      ['same', 0],
    ]);
    expect(byCase[0]!.candidateAnswer).toEqual({ score: 0, answer: null, reasons: ['The run failed: timeout'] });
    expect(byCase[1]).toMatchObject({
      repeats: 2,
      repeat: 2,
      baselineAnswer: { score: 1, answer: '20 €', reasons: [] },
    });
    expect(byCase[1]!.candidateAnswer).toEqual({ score: 0, answer: '7 €', reasons: ['answer: wrong sum'] });
  });

  test('has a verdict for all cases and for each tag with enough of them', () => {
    const lost: [number[], number[]] = [[1], [0]];
    const kept: [number[], number[]] = [[1], [1]];
    const items = [
      ...bothOf([lost, lost, lost, lost, lost, lost, lost], { tags: ['refund', 'refund'] }),
      ...bothOf([kept, kept, kept], { tags: ['other'] }).map((item) => ({ ...item, caseId: `other_${item.caseId}` })),
    ];
    const { verdict, byTag } = compare(items);
    expect(verdict).toBe('worse');
    expect(byTag).toEqual([
      {
        tag: 'other',
        verdict: 'too_few_cases',
        cases: 3,
        better: 0,
        worse: 0,
        same: 3,
        difference: { mean: 0, low: null, high: null },
      },
      {
        tag: 'refund',
        verdict: 'worse',
        cases: 7,
        better: 0,
        worse: 7,
        same: 0,
        difference: { mean: -1, low: -1, high: -1 },
      },
    ]);
  });

  test.each([5, 6])('claims nothing from five cases: %d', (n) => {
    const { verdict, difference } = compare(bothOf(ids(n).map(() => [[1], [0]])));
    expect([verdict, difference.high]).toEqual(n === 5 ? ['too_few_cases', null] : ['worse', -1]);
  });

  test('repeats that say the same do not narrow the interval', () => {
    const score = fc.constantFrom(0, 0.25, 0.5, 1);
    fc.assert(
      fc.property(fc.array(fc.tuple(score, score), { minLength: 6, maxLength: 12 }), fc.nat(1_000), (cases, seed) => {
        const intervalOf = (repeats: number) => {
          const items = bothOf(cases.map(([a, b]) => [Array(repeats).fill(a), Array(repeats).fill(b)]));
          const options = { baseline: 'a', candidate: 'b', seed, resamples: 100 };
          return compareVariants(items, options).difference;
        };
        const { mean, low, high } = intervalOf(1);
        const more = intervalOf(4);
        expect([more.mean, more.low, more.high]).toEqual([mean, low, high].map((each) => expect.closeTo(each!, 12)));
        expect(low).toBeLessThanOrEqual(mean! + 1e-12);
        expect(high).toBeGreaterThanOrEqual(mean! - 1e-12);
      }),
    );
  });

  test('is the same for the same items in any order, and mirrored for the variants exchanged', () => {
    const cases = fc.array(
      fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
      {
        minLength: 6,
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(
        cases.chain((each) => {
          const items = bothOf(each.map(([a, b]) => [[a], [b]]));
          return fc.tuple(fc.constant(items), fc.shuffledSubarray(items, { minLength: items.length }));
        }),
        ([items, shuffled]) => {
          const there = compare(items, { resamples: 100 });
          expect(compare(shuffled, { resamples: 100 })).toEqual(there);
          const back = compareVariants(items, { baseline: 'b', candidate: 'a', resamples: 100 });
          expect(back.difference.mean).toBeCloseTo(-there.difference.mean!, 12);
          expect([back.better, back.worse, back.same]).toEqual([there.worse, there.better, there.same]);
        },
      ),
    );
  });

  test('depends on the seed, which the report names', () => {
    // skewed, so that the bootstrap and not Student's t gives the lower end
    const items = bothOf(ids(200).map((_, i) => [[1], [i < 5 ? 0 : 1 - i / 2_000]]));
    const report = (seed: number) => reportOf(items, { seed, resamples: 100 });
    expect(report(1)).toEqual(report(1));
    expect(report(1).comparisons[0]!.difference).not.toEqual(report(2).comparisons[0]!.difference);
    expect(report(2)).toMatchObject({ seed: 2, resamples: 100, baseline: 'a' });
  });
});

describe('bad input', () => {
  const items = bothOf([[[1], [1]]]);
  const invalid = expect.objectContaining({ code: 'invalid_input' });

  test('is rejected', () => {
    expect(() => reportOf(items, { baseline: 'c' })).toThrow(invalid);
    expect(() => compareVariants(items, { baseline: 'a', candidate: 'c' })).toThrow(invalid);
    expect(() => reportOf([...items, items[0]!])).toThrow(invalid);
    for (const seed of [-1, 0.5, 2 ** 32, NaN]) expect(() => reportOf(items, { seed })).toThrow(invalid);
    for (const resamples of [99, 100_001, 1e9]) expect(() => reportOf(items, { resamples })).toThrow(invalid);
  });

  test('no items give an empty report', () => {
    expect(reportOf([])).toEqual({ baseline: null, variants: [], comparisons: [], seed: 1, resamples: 2_000 });
  });
});
