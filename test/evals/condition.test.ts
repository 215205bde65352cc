import fc from 'fast-check';
import { failIf, parseCondition, printCondition, reportOf, type Condition, type MetricName } from 'lanefold/evals';
import { isLanefoldError } from 'lanefold';
import { describe, expect, test } from 'vitest';
import { itemOf, repeatsOf, scoreOf } from './items.ts';
import { cases } from '../support/cases.ts';

const scorer = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,20}$/);
const ofVariant = fc.oneof(
  fc.constantFrom<MetricName>('pass_rate', 'score', 'cost', 'p50_ms', 'p95_ms', 'failures', 'unscored'),
  scorer.map((name): MetricName => `score.${name}`),
);
const metric = fc.oneof(ofVariant, fc.constantFrom<MetricName>('difference', 'difference.low', 'difference.high'));
// minus zero is printed as 0
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const operand = fc.oneof(fc.record({ number }), fc.record({ baseline: ofVariant, offset: number }));
const condition: fc.Arbitrary<Condition> = fc.array(
  fc.array(fc.record({ metric, op: fc.constantFrom('<', '<=', '>', '>='), operand }), { minLength: 1, maxLength: 3 }),
  { minLength: 1, maxLength: 3 },
);

describe('a condition', () => {
  test('is printed as it is read', () => {
    fc.assert(
      fc.property(condition, (given) => {
        const text = printCondition(given);
        fc.pre(text.length <= 1_000);
        expect(parseCondition(text)).toEqual(given);
      }),
    );
  });

  test('is read, or rejected with a position and what is allowed', () => {
    const word = fc.constantFrom(
      ...['pass_rate', 'score', 'score.exact', 'difference.low', 'baseline', 'baseline.score', 'and', 'or', '<', '>='],
      ...['+', '-', '0.02', '1e9', '.5', 'constructor', 'score.', '__proto__', '(', '€', '\n'],
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(word).map((words) => words.join(' ')),
      fc.array(word).map((words) => words.join('')),
    );
    fc.assert(
      fc.property(text, (given) => {
        try {
          expect(parseCondition(printCondition(parseCondition(given)))).toEqual(parseCondition(given));
        } catch (error) {
          if (!isLanefoldError(error, 'invalid_input')) throw error;
          const { position, allowed } = error.details as { position: number; allowed: string };
          expect(position).toBeGreaterThanOrEqual(0);
          expect(position).toBeLessThanOrEqual(given.length);
          expect(error.hint).toContain(allowed);
        }
      }),
      { numRuns: cases(200) },
    );
  });

  test('compares with the baseline what both variants have', () => {
    const score = (caseId: string) => [scoreOf(caseId.startsWith('easy') ? 1 : 0, { scorer: 'exact' })];
    const cases = ['easy_1', 'easy_2', 'hard_1', 'hard_2'];
    const items = cases.flatMap((caseId) => [
      itemOf({ caseId, variant: 'a', scores: score(caseId) }),
      itemOf({
        caseId,
        variant: 'b',
        scores: score(caseId),
        ...(caseId.startsWith('easy') ? { status: 'skipped', scores: [], costMicros: null } : {}),
      }),
    ]);
    const report = reportOf(items);
    for (const metric of ['pass_rate', 'score', 'score.exact', 'cost'])
      expect(failIf(`${metric} < baseline`, report)).toEqual({ failed: false, reasons: [] });
    // the metrics themselves are of all items that count
    expect(failIf('score < 0.5', report).failed).toBe(true);
    const unscored = [...items, itemOf({ caseId: 'other', variant: 'b', scores: [] })];
    expect(failIf('unscored > baseline', reportOf(unscored)).failed).toBe(true);
    // nothing in common is no comparison
    const apart = items.filter(({ caseId, variant }) => (variant === 'a') === caseId.startsWith('easy'));
    expect(failIf('score < baseline', reportOf(apart)).reasons).toEqual([expect.stringContaining('cannot be decided')]);
  });

  test('reads and before or, and baseline alone as the same metric', () => {
    const pass = { metric: 'pass_rate', op: '<', operand: { baseline: 'pass_rate', offset: -0.02 } };
    const failures = { metric: 'failures', op: '>=', operand: { number: 3 } };
    const exact = { metric: 'score.exact', op: '<=', operand: { baseline: 'score', offset: 0 } };
    const text = 'pass_rate<baseline - .02  or failures >= 3 and score.exact <= baseline.score';
    expect(parseCondition(text)).toEqual([[pass], [failures, exact]]);
    const own = [{ metric: 'cost', op: '>', operand: { baseline: 'score.exact', offset: 1 } }];
    expect(parseCondition('cost > baseline.score.exact + 1')).toEqual([own]);
  });

  test.each([
    ['', 0, 'it ends too early'],
    ['pass_rat < 1', 0, 'there is no metric "pass_rat"; did you mean pass_rate?'],
    ['score.1 < 1', 5, '".1" is unexpected'],
    ['score = 1', 6, '"=" is not understood'],
    ['score < ', 8, 'it ends too early'],
    ['score < high', 8, '"high" is unexpected'],
    ['score < 0.02or cost > 1', 8, '"0.02or" is not understood'],
    ['score < 1e999', 8, 'the number is too large'],
    ['score < baseline.cots', 8, 'there is no metric "cots"; did you mean cost?'],
    ['score < baseline - ', 19, 'it ends too early'],
    ['score < 1 cost > 2', 10, '"cost" is unexpected'],
    ['score < 1 or', 12, 'it ends too early'],
    ['difference < baseline', 13, 'difference is a comparison with the baseline already'],
  ])('%j is rejected at %d', (text, position, what) => {
    const error = expect.objectContaining({
      code: 'invalid_input',
      message: `The condition is invalid at character ${position + 1}: ${what}.`,
      details: expect.objectContaining({ position }),
    });
    expect(() => parseCondition(text)).toThrow(error);
  });

  test('is a text of a sensible length', () => {
    for (const given of [undefined, 7, 'score < 1 or '.repeat(100)])
      expect(() => parseCondition(given as never)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
});

describe('failIf', () => {
  const cases = Array.from({ length: 10 }, (_, i) => `case_${i}`);
  const fails = (caseId: string) => caseId === 'case_0';
  const report = reportOf([
    ...cases.flatMap((id) => repeatsOf(id, 'a', [1])),
    ...cases.flatMap((id) => repeatsOf(id, 'b', fails(id) ? [0] : [1], { durationMs: 900, costMicros: 200 })),
  ]);
  const failed = (condition: string) => failIf(condition, report).failed;

  test.each([
    ['pass_rate < 0.95', true],
    ['pass_rate < baseline - 0.05', true],
    // 1 - 0.1 is 0.9, although not in binary
    ['pass_rate < baseline - 0.1', false],
    ['pass_rate <= baseline - 0.1', true],
    ['score < 0.9 or p95_ms > 850', true],
    ['score < 0.9 and p95_ms > 850', false],
    ['cost > baseline + 0.0007', true],
    ['cost > baseline + 0.0009', false],
    ['failures > 0', false],
    ['score.answer < baseline.score', true],
    ['difference < -0.05', true],
    ['difference.high < 0', false],
  ])('%s: %s', (condition, result) => {
    expect(failed(condition)).toBe(result);
  });

  test('says why, for each variant but the baseline', () => {
    expect(failIf('pass_rate < baseline - 0.05', report).reasons).toEqual([
      'Variant b meets pass_rate < baseline - 0.05: 0.9 < 0.95.',
    ]);
    expect(failIf('pass_rate > 0.95', report)).toEqual({ failed: false, reasons: [] });
  });

  test('fails if a metric that decides has no value', () => {
    expect(failIf('score.exact < 0.5', report).reasons).toEqual([
      'Variant b: score.exact < 0.5 cannot be decided, because score.exact has no value.',
    ]);
    expect(failed('score.exact < 0.5 and failures > 0')).toBe(false);
    expect(failIf('score.exact < 0.5 or pass_rate < 1', report).reasons).toHaveLength(1);
  });

  test('takes the only variant, which has no baseline', () => {
    const alone = reportOf([itemOf({ scores: [scoreOf(0.4)], costMicros: null })]);
    expect(failIf('score < 0.5', alone).failed).toBe(true);
    expect(failIf('score > 0.5', alone).failed).toBe(false);
    expect(failIf('score > baseline', alone).reasons).toEqual([expect.stringContaining('has no baseline')]);
    expect(failIf('cost > 1', alone).failed).toBe(true);
    expect(failIf('score < 0.5', reportOf([])).failed).toBe(true);
  });
});
