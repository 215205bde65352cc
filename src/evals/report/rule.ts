import type { EvalItem } from '../item.ts';

/** An item passes with at least this score. */
export const passMark = 0.5;

/**
 * The score of an item: the mean of its scores that are not null; 0 if the run failed. Null if the item is left out: it has no score,
 * was erased, or has not ended.
 */
export function itemScore({ status, scores }: EvalItem): number | null {
  if (status === 'failed') return 0;
  return status === 'done' ? meanOf(given(scores)) : null;
}

/** An item passes if every score that is not null is at least 0.5. Null if the item is left out. */
export function itemPasses(item: EvalItem): boolean | null {
  if (itemScore(item) === null) return null;
  return item.status === 'done' && given(item.scores).every((score) => score >= passMark);
}

const given = (scores: EvalItem['scores']): number[] => scores.flatMap(({ score }) => (score === null ? [] : [score]));

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

export const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : sumOf(values) / values.length;
