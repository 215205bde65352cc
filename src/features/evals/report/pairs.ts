import { LanefoldError } from '../../../base/errors.ts';
import type { EvalItem } from '../store/types.ts';
import { countItem, meanOf, sumOf, type Counted } from './rule.ts';
import type { Difference, Verdict } from './report.ts';

/** An item that counts, with what it counts as. */
export interface CountedItem extends Counted {
  item: EvalItem;
}

/** The same case and repeat under both variants; `gain` is the candidate's score minus the baseline's. */
export interface Pair {
  baseline: CountedItem;
  candidate: CountedItem;
  gain: number;
  /** 1 if only the candidate passes, -1 if only the baseline does, else 0. */
  passGain: number;
}

export interface CasePairs {
  caseId: string;
  tags: string[];
  pairs: Pair[];
}

/**
 * The pairs of two variants, by case in the order of their ids, so that the order of the items does not matter.
 *
 * @throws LanefoldError `invalid_input` if two items have the same case, variant and repeat
 */
export function pairsByCase(
  items: readonly EvalItem[],
  baseline: string,
  candidate: string,
): { byCase: CasePairs[]; unpaired: number } {
  const before = countedItems(items, baseline);
  const after = countedItems(items, candidate);
  const byCase = new Map<string, CasePairs>();
  let paired = 0;
  for (const [key, first] of [...before].sort(([, a], [, b]) => a.item.repeat - b.item.repeat)) {
    const second = after.get(key);
    if (!second) continue;
    paired += 1;
    const { caseId, tags } = first.item;
    const found = byCase.get(caseId) ?? { caseId, tags: [...new Set(tags)].sort(), pairs: [] };
    byCase.set(caseId, found);
    found.pairs.push({
      baseline: first,
      candidate: second,
      gain: second.score - first.score,
      passGain: Number(second.passes) - Number(first.passes),
    });
  }
  return {
    byCase: [...byCase.values()].sort((a, b) => (a.caseId < b.caseId ? -1 : 1)),
    unpaired: before.size + after.size - 2 * paired,
  };
}

function countedItems(items: readonly EvalItem[], variant: string): Map<string, CountedItem> {
  const seen = new Set<string>();
  const counted = new Map<string, CountedItem>();
  for (const item of items) {
    if (item.variant !== variant) continue;
    const key = JSON.stringify([item.caseId, item.repeat]);
    if (seen.has(key))
      throw new LanefoldError(
        'invalid_input',
        `Case ${item.caseId} has two items of variant ${variant} with the repeat ${item.repeat}.`,
      );
    seen.add(key);
    const counts = countItem(item);
    if (counts) counted.set(key, { ...counts, item });
  }
  return counted;
}

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
