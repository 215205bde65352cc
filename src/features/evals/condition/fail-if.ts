import type { Comparison, EvalReport, VariantSummary } from '../report/report.ts';
import {
  parseCondition,
  printTest,
  type Comparator,
  type ConditionResult,
  type MetricName,
  type MetricTest,
} from './parse.ts';

/**
 * Whether a report meets a condition, for continuous integration. It is evaluated for each variant except the baseline,
 * or for the only one. A metric without a value (no item scored, too few cases for an interval, an unknown scorer) leaves the
 * condition undecided unless the rest decides it; an undecided condition fails.
 *
 * @throws LanefoldError `invalid_input` for an invalid condition, with the position and what is allowed there
 *
 * @example
 * ```ts
 * import { failIf, reportOf, type EvalItem } from 'lanefold/evals';
 *
 * const item: EvalItem = {
 *   ...{ caseId: 'case_1', tags: [], variant: 'a', repeat: 1, status: 'done', answer: '20 €', error: null },
 *   scores: [{ scorer: 'answer', version: '1', score: 1, reason: null, error: null }],
 *   ...{ durationMs: 800, inputTokens: 90, outputTokens: 8, costMicros: 120, endedBy: null, diverged: null, reused: false },
 * };
 * const { failed, reasons } = failIf('pass_rate < 0.9 or failures > 0', reportOf([item]));
 * console.log(failed, reasons); // false []
 * ```
 */
export function failIf(condition: string, report: EvalReport): ConditionResult {
  const parsed = parseCondition(condition);
  const tested = report.variants.filter(({ variant }) => report.variants.length === 1 || variant !== report.baseline);
  const outcomes = tested.map((variant) =>
    anyOf(parsed.map((tests) => allOf(tests.map((test) => decide(test, variant, report))))),
  );
  const reasons = outcomes.flatMap(({ met, reasons: each }) => (met === false ? [] : each));
  return tested.length === 0
    ? { failed: true, reasons: ['The report has no variants.'] }
    : { failed: reasons.length > 0, reasons };
}

/** `met` is null if a metric without a value leaves it open. */
interface Outcome {
  met: boolean | null;
  reasons: string[];
}

const because = (outcomes: Outcome[], met: boolean | null): Outcome => ({
  met,
  reasons: outcomes.filter((each) => each.met === met).flatMap(({ reasons }) => reasons),
});

const allOf = (tests: Outcome[]): Outcome =>
  tests.some(({ met }) => met === false)
    ? { met: false, reasons: [] }
    : because(tests, tests.every(({ met }) => met) ? true : null);

const anyOf = (tests: Outcome[]): Outcome =>
  tests.every(({ met }) => met === false)
    ? { met: false, reasons: [] }
    : because(tests, tests.some(({ met }) => met) ? true : null);

function decide(test: MetricTest, variant: VariantSummary, report: EvalReport): Outcome {
  const { metric, op, operand } = test;
  const undecided = (why: string): Outcome => ({
    met: null,
    reasons: [`Variant ${variant.variant}: ${printTest(test)} cannot be decided, because ${why}.`],
  });
  // what one variant lacks, because its budget was used up or its judge failed, must not make it look better or worse
  const paired =
    'baseline' in operand
      ? report.comparisons.find(({ candidate }) => candidate === variant.variant)?.paired
      : undefined;
  const value = valueOf(metric, comparable(metric, paired?.candidate) ?? variant, report);
  if (value === null) return undecided(`${metric} has no value`);
  let limit: number;
  if ('number' in operand) limit = operand.number;
  else {
    const baseline =
      comparable(operand.baseline, paired?.baseline) ??
      report.variants.find((each) => each.variant === report.baseline);
    if (!baseline) return undecided('the report has no baseline');
    const base = valueOf(operand.baseline, baseline, report);
    if (base === null) return undecided(`${operand.baseline} of the baseline has no value`);
    limit = base + operand.offset;
  }
  const reasons = [`Variant ${variant.variant} meets ${printTest(test)}: ${short(value)} ${op} ${short(limit)}.`];
  return { met: compare[op](value, limit), reasons };
}

/** Items without a score have no partner. */
const comparable = (metric: MetricName, paired: VariantSummary | undefined): VariantSummary | undefined =>
  metric === 'unscored' ? undefined : paired;

/** Sums like 0.9 - 0.02 have errors in the sixteenth digit, which must not decide a comparison with an equal number. */
const epsilon = 1e-9;

const compare: Record<Comparator, (value: number, limit: number) => boolean> = {
  '<': (value, limit) => value < limit - epsilon,
  '<=': (value, limit) => value <= limit + epsilon,
  '>': (value, limit) => value > limit + epsilon,
  '>=': (value, limit) => value >= limit - epsilon,
};

const short = (value: number): string => String(Number(value.toFixed(6)));

function valueOf(metric: MetricName, variant: VariantSummary, report: EvalReport): number | null {
  const comparison = report.comparisons.find(({ candidate }) => candidate === variant.variant);
  const known = metrics[metric];
  if (known) return known(variant, comparison);
  return variant.scorers.find(({ scorer }) => `score.${scorer}` === metric)?.score ?? null;
}

const metrics: Record<string, ((variant: VariantSummary, comparison?: Comparison) => number | null) | undefined> = {
  pass_rate: ({ passRate }) => passRate,
  score: ({ score }) => score,
  // in US dollars; unknown prices make the sum too low, so it is no value to compare
  cost: ({ costMicros, unpriced }) => (costMicros === null || unpriced > 0 ? null : costMicros / 1_000_000),
  p50_ms: ({ p50Ms }) => p50Ms,
  p95_ms: ({ p95Ms }) => p95Ms,
  failures: ({ failures }) => failures,
  unscored: ({ unscored }) => unscored,
  difference: (_, comparison) => comparison?.difference.mean ?? null,
  'difference.low': (_, comparison) => comparison?.difference.low ?? null,
  'difference.high': (_, comparison) => comparison?.difference.high ?? null,
};
