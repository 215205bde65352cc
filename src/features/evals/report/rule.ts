import type { EvalItem } from '../store/types.ts';

/** An item passes if none of its scores is lower. */
const passMark = 0.5;

/** What an item counts as. */
export interface Counted {
  score: number;
  passes: boolean;
}

/**
 * The rule of all reports. The score of an item is the mean of its scores that are not null, and it passes if each of
 * them is at least 0.5; a failed run scores 0. Null if the item is left out: it has no score, was skipped or
 * erased, or has not ended.
 */
export function countItem({ status, scores }: EvalItem): Counted | null {
  if (status === 'failed') return { score: 0, passes: false };
  if (status !== 'done') return null;
  let [sum, count, lowest] = [0, 0, 1];
  for (const { score } of scores) {
    if (score === null) continue;
    sum += score;
    count += 1;
    lowest = Math.min(lowest, score);
  }
  return count === 0 ? null : { score: sum / count, passes: lowest >= passMark };
}

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

export const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : sumOf(values) / values.length;
