import type { Usage } from './message.ts';

/** The sum of two usages, counter by counter. */
export function addUsage(total: Usage | undefined, more: Usage): Usage {
  if (!total) return more;
  const sum: Usage = { ...total };
  for (const [counter, count] of Object.entries(more)) sum[counter] = (sum[counter] ?? 0) + count;
  return sum;
}

/** What is left of a usage without a part of it, counter by counter. */
export function subtractUsage(total: Usage, part: Usage): Usage {
  const rest: Usage = { ...total };
  for (const [counter, count] of Object.entries(total)) rest[counter] = count - (part[counter] ?? 0);
  return rest;
}
