// Generated from declaration.ts beside it: run `npm run types:api`.

import type { LimitKind } from '../../../agent/limits/limit.ts';
import type { RunStatus } from '../../../database/store/run/types.ts';
import type { OnExhausted } from '../../../agent/limits/limit.ts';
import type { LimitDefinition } from '../../../agent/limits/types.ts';

/** A run that holds a slot of a limit, or has reserved some of it for a call. */
export interface LimitHolder {
  name: string;
  /** The tenant that has set the limit, for its own runs. Null: the operator has set the limit, for all runs. */
  tenant: string | null;
  /**
   * `concurrency`: runs at work. `runs`: runs started in the interval. `requests`, `tokens` and `money`: of model
   * calls in the interval.
   */
  kind: LimitKind;
  /** The values of the dimensions with `*` in the scope, joined by `/`; empty without such dimensions. */
  key: string;
  /** The amount that the run holds. For `money` in US dollars. */
  amount: number;
  threadId: string;
  runId: string;
  agent: string;
  status: RunStatus;
  /** The worker that executes it; null: none. */
  workerId: string | null;
  /** When the run started; before its first claim, when the run became ready to start. */
  since: Date;
}

export interface LimitHoldersOptions {
  /** Only of limits with this name. */
  name?: string;
  /** Only of this key of the limit. */
  key?: string;
  /** The `nextAfter` of the previous page. */
  after?: string;
  /** Maximum number of items; default 100. */
  limit?: number;
}

/** What one value of the scope has used of a limit. */
export interface LimitUsage {
  name: string;
  /** The tenant that has set the limit, for its own runs. Null: the operator has set the limit, for all runs. */
  tenant: string | null;
  /**
   * `concurrency`: runs at work. `runs`: runs started in the interval. `requests`, `tokens` and `money`: of model
   * calls in the interval.
   */
  kind: LimitKind;
  /** The values of the dimensions with `*` in the scope, joined by `/`; empty without such dimensions. */
  key: string;
  /** The amount that applies to this key. */
  amount: number;
  /** Used in the interval, including `reserved`. For `money` in US dollars. */
  used: number;
  /** Taken by calls that have not ended. */
  reserved: number;
  /** Runs that wait for it. */
  waiting: number;
  /** All usage so far. */
  total: number;
  /** When the calendar interval ends; null for other limits. */
  resetsAt: Date | null;
  /** When usage last exceeded a limit with `onExhausted: notice`. */
  noticedAt: Date | null;
  /** Until this time, the provider has asked for no calls. */
  drainedUntil: Date | null;
  /** Used in each 1/32 of a sliding interval, oldest first; null for other limits. */
  slices: number[] | null;
  /**
   * Number of waiting runs by value of `shareBy`, for the ten values with the most waiting runs. Null without
   * `shareBy`, or if no run waits.
   */
  waitingBy: Record<string, number> | null;
  /** Pass it as `after` to list the keys of the limit after this one. */
  cursor: string;
}

export interface LimitUsageOptions {
  /** Only of limits with this name. */
  name?: string;
  /** The `cursor` of a key: list the keys of the same limit after this key. */
  after?: string;
  /** Keys of each limit; default 100. */
  limit?: number;
}

/** A limit in force. */
export interface ListedLimit {
  name: string;
  /** The tenant that has set the limit, for its own runs. Null: the operator has set the limit, for all runs. */
  tenant: string | null;
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
  /** When it was first set. */
  createdAt: Date;
  /** When it was last changed. */
  updatedAt: Date;
  /** `operator`, `key:<id>` or `cli:<user>`. */
  updatedBy: string;
}

export interface DeclaredLimits {
  /**
   * Sets a limit, or replaces it; what was used stays used, and runs that wait continue if they now may. Setting a
   * limit to what it is changes nothing. Workers notice at once.
   *
   * @throws LanefoldError `invalid_id`, `invalid_input`
   */
  set(
    name: string,
    definition: LimitDefinition,
    options?: {
      /** The tenant whose limit it is; default: the tenant of the library, else the operator, for all runs. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedLimit>;
  /**
   * Remove a limit. Runs that wait for it continue.
   *
   * @throws LanefoldError `limit_not_found`
   */
  remove(
    name: string,
    options?: {
      /** The tenant whose limit it is; default: the tenant of the library, else the operator, for all runs. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<void>;
}
