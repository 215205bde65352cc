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
  shareBy: string | null;
  /** How many turns a value of `shareBy` gets while another one gets one; default 1. */
  shares: Record<string, number> | null;
  /** What only runs with this value of `shareBy` may use; others see the limit lower by it. */
  reserve: Record<string, number> | null;
  onExhausted: OnExhausted;
  version: number;
}

/** The most that a value of `shareBy` may use of the bucket with this key. */
export function mostOf({ amount, amounts, reserve }: Limit, key: string, share: string | undefined): number {
  const kept = Object.entries(reserve ?? {}).filter(([value]) => value !== share);
  return Math.max(
    0,
    kept.reduce((most, [, one]) => most - one, amounts?.[key] ?? amount),
  );
}

/** A limit as it is set and listed, without its owner and name. Amounts are exact, amounts of money too. */
export interface StoredLimit extends Omit<Limit, 'owner' | 'name' | 'amount' | 'amounts' | 'reserve'> {
  amount: bigint;
  amounts: Record<string, bigint> | null;
  reserve: Record<string, bigint> | null;
}

/** Amounts of money are stored in billionths of a dollar. */
export const perDollar = 1_000_000_000;

export type LimitInterval = 'second' | 'minute' | 'hour' | 'day';

/** In ms. */
export const namedIntervals: Readonly<Record<LimitInterval, number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/** What one model call needs, or has used. */
export interface CallUse {
  inputTokens: number;
  outputTokens: number;
  /** In US dollars; undefined if the price of the model is unknown. */
  cost: number | undefined;
}

/** How much of a limit a call uses; undefined: its price is unknown. */
export function amountOf({ kind, tokens }: Pick<Limit, 'kind' | 'tokens'>, use: CallUse): number | undefined {
  switch (kind) {
    case 'tokens':
      if (tokens === 'input') return use.inputTokens;
      return tokens === 'output' ? use.outputTokens : use.inputTokens + use.outputTokens;
    case 'money':
      return use.cost === undefined ? undefined : Math.round(use.cost * perDollar);
    default:
      return 1;
  }
}

/** Whether the provider's answer tells how much was used, so that what was reserved before is settled with it. */
export const isSettled = ({ kind }: Pick<Limit, 'kind'>): boolean => kind === 'tokens' || kind === 'money';

/** Whether a run takes it once, when it starts, and not with each model call. */
export const isOfRuns = ({ kind }: Pick<Limit, 'kind'>): boolean => kind === 'concurrency' || kind === 'runs';

/** Whether it stands for what a provider lets an account use. */
export const isOfProvider = ({ kind, scope }: Pick<Limit, 'kind' | 'scope'>): boolean =>
  (kind === 'requests' || kind === 'tokens') && ('model' in scope || 'provider' in scope);

/** Decimal places of a dollar in the database, which counts billionths. */
const places = 9;

/** US dollars in billionths, exactly; undefined if the number has more than 9 decimal places. */
export function billionthsOf(dollars: number): bigint | undefined {
  // the shortest text of a number is what its caller wrote, perhaps as 1e-7
  const [digits = '', exponent = '0'] = String(dollars).split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  const shift = places - fraction.length + Number(exponent);
  return shift < 0 ? undefined : BigInt(whole + fraction) * 10n ** BigInt(shift);
}

/** Billionths of a US dollar, as whole text, in dollars. */
export function dollarsOf(billionths: string): number {
  const [, sign = '', digits = ''] = /^(-?)(\d+)$/.exec(billionths) ?? [];
  const padded = digits.padStart(places + 1, '0');
  return Number(`${sign}${padded.slice(0, -places)}.${padded.slice(-places)}`);
}
