/** What a limit counts. */
export type LimitKind = 'concurrency' | 'runs' | 'requests' | 'tokens' | 'money';
export const limitKinds = ['concurrency', 'runs', 'requests', 'tokens', 'money'] as const satisfies LimitKind[];

/**
 * What an exhausted limit does: a run that it refuses waits, or ends with `budget_exhausted`. With `notice`, it refuses
 * nothing and only says that it is passed.
 */
export type OnExhausted = 'wait' | 'end' | 'notice';
export const onExhausted = ['wait', 'end', 'notice'] as const satisfies OnExhausted[];

/** A limit as the database has it. */
export interface Limit {
  /** The tenant that set it, for its own runs; `*`: the operator, for all runs. */
  owner: string;
  name: string;
  /**
   * `concurrency`: runs at work. `runs`: runs started in the interval. `requests`, `tokens` and `money`: of model calls
   * in the interval.
   */
  kind: LimitKind;
  /**
   * The runs it applies to, by dimension: `tenant`, `key`, `agent`, `model`, `provider`, `thread`, or one of the request's
   * `limitKeys`. With the value `*`, each value of the dimension has the amount for itself. `{}`: all runs.
   */
  scope: Record<string, string>;
  /** In billionths of a US dollar for `money`. */
  amount: number;
  /** Other amounts for single values of the scope's `*` dimension; for several, values joined by `/`. */
  amounts: Record<string, number> | null;
  /** For `tokens`: which of them; default `total`. */
  tokens: 'input' | 'output' | 'total' | null;
  /** Length of the sliding interval. Null for `concurrency`, and with `calendar`. */
  perMs: number | null;
  calendar: 'day' | 'week' | 'month' | null;
  /** Of the calendar; null: UTC. */
  timeZone: string | null;
  /** The dimension whose values take turns when runs wait. */
  share: string | null;
  /** How many turns a value of `share` gets while another one gets one; default 1. */
  weights: Record<string, number> | null;
  /** What only runs with this value of `share` may use; others see the limit lower by it. */
  reserve: Record<string, number> | null;
  onExhausted: OnExhausted;
  version: number;
}

/** The most that a value of `share` may use of the bucket with this key. */
export function mostOf({ amount, amounts, reserve }: Limit, key: string, share: string | undefined): number {
  const kept = Object.entries(reserve ?? {}).filter(([value]) => value !== share);
  return Math.max(
    0,
    kept.reduce((most, [, one]) => most - one, amounts?.[key] ?? amount),
  );
}

/** A limit as it is set and listed, without its owner and name. Its amounts are exact, also those of money. */
export interface StoredLimit extends Omit<Limit, 'owner' | 'name' | 'amount' | 'amounts' | 'reserve'> {
  amount: bigint;
  amounts: Record<string, bigint> | null;
  reserve: Record<string, bigint> | null;
}

/** Amounts of money are stored in billionths of a dollar. */
export const perDollar = 1_000_000_000;
