import type { LimitDefinition } from './definition.ts';
import { assertFew, invalid } from './invalid-limit.ts';
import { billionthsOf } from './money.ts';
import { bucketProblem, eachOf } from './scope.ts';

/** Both fit a bigint twice, so that what is used and what is asked for can be added. */
const mostCount = 1e15;
const mostDollars = 1e9;

/** The amounts of single buckets. @throws LanefoldError `invalid_input` */
export function amountsOf({ kind, scope = {}, amounts = {} }: LimitDefinition): Record<string, bigint> | null {
  const entries = Object.entries(amounts);
  if (entries.length === 0) return null;
  const each = eachOf(scope);
  if (each.length === 0) throw invalid('amounts', 'is only for a limit with * in its scope');
  assertFew('amounts', amounts);
  return Object.fromEntries(
    entries.map(([key, amount]) => {
      const wrong = bucketProblem(each, key);
      if (wrong) throw invalid(`amounts.${key}`, wrong);
      return [key, amountOf(kind, amount, `amounts.${key}`)];
    }),
  );
}

/** What is kept for values of the sharing dimension. @throws LanefoldError `invalid_input` */
export function reserveOf({ kind, amount, reserve = {} }: LimitDefinition): Record<string, bigint> | null {
  const entries = Object.entries(reserve).map(
    ([value, kept]) => [value, amountOf(kind, kept, `reserve.${value}`)] as const,
  );
  if (entries.length === 0) return null;
  const sum = entries.reduce((before, [, kept]) => before + kept, 0n);
  if (sum > amountOf(kind, amount, 'amount')) throw invalid('reserve', 'is more than the amount');
  return Object.fromEntries(entries);
}

/** As the database has it. @throws LanefoldError `invalid_input` */
export function amountOf(kind: LimitDefinition['kind'], amount: number, field: string): bigint {
  if (kind === 'money') {
    const billionths = amount >= 0 && amount <= mostDollars ? billionthsOf(amount) : undefined;
    if (billionths !== undefined) return billionths;
    throw invalid(field, `must be US dollars from 0 to ${mostDollars} with at most 9 decimal places`);
  }
  if (Number.isInteger(amount) && amount >= 0 && amount <= mostCount) return BigInt(amount);
  throw invalid(field, `must be a whole number from 0 to ${mostCount}`);
}
