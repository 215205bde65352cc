import { randomOf } from './random.ts';
import type { Difference, Verdict } from './report.ts';
import { meanOf } from './rule.ts';
import { tailShare } from './tail-share.ts';

/** With five cases, all five are worse by chance in 1 of 16 evals without a difference: too often for a claim. */
export const fewestCases = 6;

/** What makes a bootstrap repeatable. */
export interface Bootstrap {
  seed: number;
  resamples: number;
}

/**
 * The mean of one value per case, with its 95 % interval: a percentile bootstrap, widened for small numbers of cases.
 * It resamples cases, not items, because the repeats of a case are alike: one more repeat tells less than one more case.
 */
export function meanWithInterval(values: readonly number[], { seed, resamples }: Bootstrap): Difference {
  const mean = meanOf(values);
  if (values.length < fewestCases) return { mean, low: null, high: null };
  const random = randomOf(seed);
  const means = new Float64Array(resamples);
  for (let i = 0; i < resamples; i++) {
    let sum = 0;
    for (let k = 0; k < values.length; k++) sum += values[Math.floor(random() * values.length)]!;
    means[i] = sum / values.length;
  }
  means.sort();
  const rank = Math.floor(tailShare(values.length) * resamples);
  return { mean, low: means[rank]!, high: means[resamples - 1 - rank]! };
}

/** Sums of differences that cancel out end near zero, not at it. */
const epsilon = 1e-9;

export function verdictOf({ low, high }: Difference): Verdict {
  if (low === null || high === null) return 'too_few_cases';
  return high < -epsilon ? 'worse' : low > epsilon ? 'better' : 'no_difference';
}
