import type { Condition, MetricTest } from './condition.ts';

/**
 * The condition as text, which `parseCondition` reads as the same condition.
 *
 * @example
 * ```ts
 * import { parseCondition, printCondition } from 'lanefold/evals';
 *
 * console.log(printCondition(parseCondition('score<baseline - .02'))); // score < baseline - 0.02
 * ```
 */
export const printCondition = (condition: Condition): string =>
  condition.map((tests) => tests.map(printTest).join(' and ')).join(' or ');

export function printTest({ metric, op, operand }: MetricTest): string {
  if ('number' in operand) return `${metric} ${op} ${operand.number}`;
  const { baseline, offset } = operand;
  const name = baseline === metric ? 'baseline' : `baseline.${baseline}`;
  return `${metric} ${op} ${name}${offset === 0 ? '' : ` ${offset < 0 ? '-' : '+'} ${Math.abs(offset)}`}`;
}
