// Generated from declaration.ts beside it: run `npm run types:api`.

import type { LimitKind } from './limit.ts';
import type { OnExhausted } from './limit.ts';

/** A limit, as you set it. */
export interface LimitDefinition {
  /**
   * `concurrency`: runs at work. `runs`: runs started in the interval. `requests`, `tokens` and `money`: of model
   * calls in the interval.
   */
  kind: LimitKind;
  /**
   * The largest amount that the limit lets pass: a whole number, or for `money` US dollars with at most 9 decimal
   * places. With 0, nothing passes: runs wait for a limit of runs, and are refused by one of model calls.
   */
  amount: number;
  /**
   * The runs it applies to, by dimension: `tenant`, `key`, `agent`, `model`, `provider`, `thread`, or one of the
   * `limitKeys` of requests. With the value `*`, each value of the dimension has the amount for itself. Default:
   * all runs together.
   */
  scope?: Record<string, string>;
  /**
   * Other amounts, by the value of the dimension with `*`. With several such dimensions, by their values in the
   * alphabetical order of the dimensions, joined by `/`.
   */
  amounts?: Record<string, number>;
  /** Which tokens count, for the kind `tokens`; default `total`. */
  tokens?: 'input' | 'output' | 'total';
  /**
   * The interval, which slides: by name, or in ms, up to 31 days. Every kind except `concurrency` needs this or
   * `calendar`.
   */
  per?: 'second' | 'minute' | 'hour' | 'day' | number;
  /** The interval starts with each day, week (on Monday) or month. */
  calendar?: 'day' | 'week' | 'month';
  /** IANA time zone of `calendar`; default `UTC`. */
  timeZone?: string;
  /** The dimension whose values take turns when runs wait; default: the oldest run goes first. */
  shareBy?: string;
  /** How many turns a value of `shareBy` gets while another one gets one, from 0.001 to 1,000; default 1. */
  shares?: Record<string, number>;
  /**
   * What only runs with this value of `shareBy` may use: for all others, the limit is lower by that much, and they
   * do not delay them.
   */
  reserve?: Record<string, number>;
  /**
   * What happens once the amount is used: a run that needs more waits (`wait`, default), or ends with
   * `budget_exhausted` and the best result it has (`end`). With `notice`, for `requests`, `tokens` and `money`,
   * nothing is refused: the run that passes the amount gets an event `limit_reached`, once per key and interval.
   */
  onExhausted?: OnExhausted;
}
