import type { EvalItem } from '../../api/types.ts';

/** Each score has to reach it, as in reports. */
const passMark = 0.5;

export const failing = (score: number | null): boolean => score !== null && score < passMark;

/** Whether an answer does not pass. */
export const fails = ({ status, scores }: Pick<EvalItem, 'status' | 'scores'>): boolean =>
  status === 'failed' || scores.some(({ score }) => failing(score));

/** What an answer counts as in reports: the mean of its scores, and 0 if its run failed; null if it does not count. */
export function totalOf({ status, scores }: Pick<EvalItem, 'status' | 'scores'>): number | null {
  if (status === 'failed') return 0;
  const given = scores.flatMap(({ score }) => score ?? []);
  return status !== 'done' || given.length === 0 ? null : given.reduce((sum, one) => sum + one, 0) / given.length;
}

export const scoreText = (score: number | null): string => (score === null ? '–' : score.toFixed(2));
