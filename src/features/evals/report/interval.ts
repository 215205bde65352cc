import type { Difference, Verdict } from './report.ts';
import { meanOf, sumOf } from './rule.ts';

/** The 97.5 % quantile of the normal distribution. */
const z = 1.959963984540054;

/** The terms of the quantile's expansion in 1/df (Abramowitz and Stegun, 26.7.5). */
const terms = [
  z,
  (z ** 3 + z) / 4,
  (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
  (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
  (79 * z ** 9 + 776 * z ** 7 + 1_482 * z ** 5 - 1_920 * z ** 3 - 945 * z) / 92_160,
];

/** The 97.5 % quantile of Student's t; from 5 degrees of freedom on, right within 0.002. */
const studentQuantile = (df: number): number => terms.reduce((sum, term, power) => sum + term / df ** power, 0);

/** With five cases, all five are worse by chance in 1 of 16 evals without a difference: too often for a claim. */
export const fewestCases = 6;

/** What makes a bootstrap repeatable. */
export interface Bootstrap {
  seed: number;
  resamples: number;
}

/**
 * The mean of one value per case, with its 95 % interval. Cases are resampled, not items, because the repeats of a case are
 * alike: one more repeat tells less than one more case.
 *
 * Each end is the outer one of two intervals. The percentile bootstrap follows a skewed distribution, but is too narrow
 * for few cases; BCa would correct the skewness, not that. Student's t is right for few cases, but symmetric.
 */
export function meanWithInterval(values: readonly number[], bootstrap: Bootstrap): Difference {
  const mean = meanOf(values);
  if (mean === null || values.length < fewestCases) return { mean, low: null, high: null };
  const means = resampledMeans(Float64Array.from(values), bootstrap);
  const rank = Math.floor(0.025 * means.length);
  const margin = studentMargin(values, mean);
  return {
    mean,
    low: Math.min(means[rank]!, mean - margin),
    high: Math.max(means[means.length - 1 - rank]!, mean + margin),
  };
}

function resampledMeans(values: Float64Array, { seed, resamples }: Bootstrap): Float64Array {
  const random = randomOf(seed);
  const means = new Float64Array(resamples);
  for (let i = 0; i < resamples; i++) {
    let sum = 0;
    for (let k = 0; k < values.length; k++) sum += values[Math.floor(random() * values.length)]!;
    means[i] = sum / values.length;
  }
  return means.sort();
}

function studentMargin(values: readonly number[], mean: number): number {
  const df = values.length - 1;
  const variance = sumOf(values.map((value) => (value - mean) ** 2)) / df;
  return studentQuantile(df) * Math.sqrt(variance / values.length);
}

/** Sums of differences that cancel out end near zero, not at it. */
const epsilon = 1e-9;

export function verdictOf({ low, high }: Difference): Verdict {
  if (low === null || high === null) return 'too_few_cases';
  return high < -epsilon ? 'worse' : low > epsilon ? 'better' : 'no_difference';
}

/** Random numbers from 0 to below 1 that the seed determines (mulberry32, by Tommy Ettinger; public domain). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
