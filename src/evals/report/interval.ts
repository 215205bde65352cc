import { randomOf } from './random.ts';
import type { Difference, Verdict } from './report.ts';
import { meanOf } from './rule.ts';

/** With five cases, all five are worse by chance in 1 of 16 evals without a difference: too often for a claim. */
export const fewestCases = 6;

/**
 * The mean of one value per case, with its 95 % interval: a percentile bootstrap that resamples cases, because the repeats of a case
 * are alike and a repeat more tells less than a case more. Two cases that are not there, the largest difference in each
 * direction, are resampled with the others: otherwise four worse cases among sixty equal ones would look like proof.
 */
export function meanWithInterval(
  values: readonly number[],
  { seed, resamples }: { seed: number; resamples: number },
): Difference {
  const mean = meanOf(values);
  if (values.length < fewestCases) return { mean, low: null, high: null };
  const largest = Math.max(...values.map(Math.abs)) || 1;
  const padded = [...values, largest, -largest];
  const random = randomOf(seed);
  const means = new Float64Array(resamples);
  for (let i = 0; i < resamples; i++) {
    let sum = 0;
    for (let k = 0; k < padded.length; k++) sum += padded[Math.floor(random() * padded.length)]!;
    means[i] = sum / padded.length;
  }
  means.sort();
  const rank = Math.floor(0.025 * resamples);
  return { mean, low: means[rank]!, high: means[resamples - 1 - rank]! };
}

export function verdictOf({ low, high }: Difference): Verdict {
  if (low === null || high === null) return 'too_few_cases';
  return high < 0 ? 'worse' : low > 0 ? 'better' : 'no_difference';
}
