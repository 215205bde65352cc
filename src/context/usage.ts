import type { Usage } from './message.ts';

/** The sum of two usages, counter by counter. */
export function addUsage(total: Usage | undefined, more: Usage): Usage {
  if (!total) return more;
  const sum: Usage = { ...total };
  for (const [counter, count] of Object.entries(more)) sum[counter] = (sum[counter] ?? 0) + count;
  return sum;
}
