import type { LimitKind, OnExhausted } from './limit.ts';

export type LimitInterval = 'second' | 'minute' | 'hour' | 'day';

/** In ms. */
export const namedIntervals: Readonly<Record<LimitInterval, number>> = {
  ...{ second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 },
};

/** A limit, as you set it. */
export interface LimitDefinition {
  /**
   * What it counts: `concurrency`, runs at work; `runs`, runs started in the interval; `requests`, `tokens` and `money`,
   * those of model calls in the interval.
   */
  kind: LimitKind;
  /**
   * The most of it. A whole number; for `money` US dollars, with at most 9 decimal places. With 0, nothing passes:
   * runs wait for a limit of runs, and are refused by one of model calls.
   */
  amount: number;
  /**
   * The runs it applies to, by dimension: `tenant`, `key`, `agent`, `model`, `provider`, `thread`, or one of the
   * `limitKeys` of requests. With the value `*`, each value of the dimension has the amount for itself. Default: all
   * runs together.
   */
  scope?: Readonly<Record<string, string>>;
  /**
   * Other amounts, by the value of the dimension with `*`: `{ acme: 500_000 }`. With several such dimensions, by their
   * values in the alphabetical order of the dimensions, joined by `/`.
   */
  amounts?: Readonly<Record<string, number>>;
  /** Which tokens count, for the kind `tokens`; default `total`. */
  tokens?: 'input' | 'output' | 'total';
  /**
   * The interval: no stretch of time of this length has more than the amount. In ms, from 1,000 to 31 days, or by name.
   * Every kind except `concurrency` needs either this or `calendar`.
   */
  per?: LimitInterval | number;
  /** The interval starts with each day, week (on Monday) or month. */
  calendar?: 'day' | 'week' | 'month';
  /** IANA time zone of `calendar`, such as `Europe/Berlin`; default `UTC`. */
  timeZone?: string;
  /** The dimension whose values take turns when runs wait for the limit; default: the oldest run goes first. */
  share?: string;
  /** How many turns a value of `share` gets while another one gets one, from 0.001 to 1,000; default 1. */
  weights?: Readonly<Record<string, number>>;
  /**
   * What only runs with this value of `share` may use, such as `{ interactive: 10 }`: for all others, the limit is lower
   * by that much, and they do not delay them.
   */
  reserve?: Readonly<Record<string, number>>;
  /**
   * What happens once the amount is used: a run that needs more waits (`wait`, default), or ends with `budget_exhausted` and
   * the best result it has (`end`). With `notice`, for `requests`, `tokens` and `money`, nothing is refused: the run that
   * passes the amount gets an event `limit_reached`, once per key and interval.
   */
  onExhausted?: OnExhausted;
}
