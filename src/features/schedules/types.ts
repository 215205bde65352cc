// Generated from declaration.ts beside it: run `npm run types:api`.

import type { ContentInput } from '../../agent/models/accept-content.ts';
import type { ModelOption } from '../../agent/models/model-chain.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import type { OverrideCaller } from '../../agent/definition/overridable.ts';

/** Which late slots still run: slots that no worker handled in time. */
export type CatchUp = 'none' | 'one' | 'all';

/** A schedule with its state. */
export interface ListedSchedule {
  name: string;
  /** The tenant whose runs it starts. */
  tenant: string;
  agent: string;
  /**
   * The user message of each run. In texts, `{{slot}}` is the time of the slot in ISO 8601, `{{date}}` and
   * `{{time}}` its date and time in the time zone, and `{{previous}}` that of the last slot before it that started
   * a run.
   */
  input: ContentInput;
  /**
   * A cron expression: five fields (minute, hour, day of the month, month, day of the week), six with seconds in
   * front, seven with a year at the end, or a nickname such as `@daily`. Either this or `everyMs`. A fixed time
   * that a change of the clock skips comes right after the change; one that occurs twice counts once. If the
   * second, minute or hour has `*` or a step, slots follow the clock: none in the missing hour, and slots in both
   * passes through the repeated one.
   */
  cron?: string;
  /**
   * From 1,000 ms to 366 days. Counted from `startAt`, or from 1970 without `startAt`, so that every process has
   * the same slots.
   */
  everyMs?: number;
  /** IANA time zone of `cron` and of the times in the input; default `UTC`. */
  timeZone?: string;
  /** No slot is before this time. */
  startAt?: Date;
  /** Every slot is before this time. */
  endAt?: Date;
  /** The thread that all its runs continue, created if it does not exist; default: a new one for each run. */
  threadId?: string;
  /**
   * While the run of an earlier slot has not ended: `skip` (default), the slot passes; `queue`, it waits;
   * `interrupt`, the earlier run is cancelled.
   */
  overlap?: Overlap;
  /**
   * Of the slots that no worker saw in time and those that have come since, run only the newest `one` (default), or
   * `all`, up to 1,000 late ones; `none`: only those on time.
   */
  catchUp?: CatchUp;
  /** Delays each slot by up to this much, up to an hour; the delay of a given slot is always the same. Default 0. */
  jitterMs?: number;
  /** Overrides and options of its runs, as in `runs.enqueue`. */
  options?: ScheduleRunOptions;
  /** The next five slots; empty while the schedule is paused, and after its end. */
  next: Date[];
  /** Since when it is paused. */
  pausedAt: Date | null;
  /** `code`: defined by a program. `user`: set through the library, HTTP, the command line or the page. */
  source: 'code' | 'user';
  /** Rises with every change. */
  version: number;
  /** When it was first set. */
  createdAt: Date;
  /** When it was last changed. */
  updatedAt: Date;
  /** `operator`, `key:<id>`, `cli:<user>` or `code`. */
  updatedBy: string;
}

/** What a slot does if the run of an earlier slot has not ended. */
export type Overlap = 'skip' | 'queue' | 'interrupt';

/** A schedule, as you set it. One of `cron` and `everyMs` is needed. */
export interface ScheduleDefinition {
  agent: string;
  /**
   * The user message of each run. In texts, `{{slot}}` is the time of the slot in ISO 8601, `{{date}}` and
   * `{{time}}` its date and time in the time zone, and `{{previous}}` that of the last slot before it that started
   * a run.
   */
  input: ContentInput;
  /**
   * A cron expression: five fields (minute, hour, day of the month, month, day of the week), six with seconds in
   * front, seven with a year at the end, or a nickname such as `@daily`. Either this or `everyMs`. A fixed time
   * that a change of the clock skips comes right after the change; one that occurs twice counts once. If the
   * second, minute or hour has `*` or a step, slots follow the clock: none in the missing hour, and slots in both
   * passes through the repeated one.
   */
  cron?: string;
  /**
   * From 1,000 ms to 366 days. Counted from `startAt`, or from 1970 without `startAt`, so that every process has
   * the same slots.
   */
  everyMs?: number;
  /** IANA time zone of `cron` and of the times in the input; default `UTC`. */
  timeZone?: string;
  /** No slot is before this time. */
  startAt?: Date;
  /** Every slot is before this time. */
  endAt?: Date;
  /** The thread that all its runs continue, created if it does not exist; default: a new one for each run. */
  threadId?: string;
  /**
   * While the run of an earlier slot has not ended: `skip` (default), the slot passes; `queue`, it waits;
   * `interrupt`, the earlier run is cancelled.
   */
  overlap?: Overlap;
  /**
   * Of the slots that no worker saw in time and those that have come since, run only the newest `one` (default), or
   * `all`, up to 1,000 late ones; `none`: only those on time.
   */
  catchUp?: CatchUp;
  /** Delays each slot by up to this much, up to an hour; the delay of a given slot is always the same. Default 0. */
  jitterMs?: number;
  /** Overrides and options of its runs, as in `runs.enqueue`. */
  options?: ScheduleRunOptions;
}

/** Options of the runs of a schedule, as in `runs.enqueue`. */
export interface ScheduleRunOptions {
  /** Overrides the model of the agent, with those that stand in for it. */
  model?: ModelOption;
  /** Overrides the strategy of the agent. */
  strategy?: string;
  /** Names of the tools to use instead of the tools of agent and thread. */
  tools?: string[];
  /** Restricts the available tools to these; an empty array allows none. */
  allowedTools?: string[];
  /** Merged over the tool context of agent and thread. */
  toolContext?: JsonObject;
  /** Maximum number of iterations. */
  maxIterations?: number;
  /** Tokens of input and output after which the run ends with the best result it has. */
  maxTotalTokens?: number;
  /**
   * What the model calls may cost, in US dollars: the run ends with the best result it has before a call that could
   * cost more than is left.
   */
  maxCost?: number;
  /** Time after its start at which the run ends with the best result it has. */
  maxDurationMs?: number;
  /** Priority of the job: 0 (default) goes first, then lower numbers before higher ones. */
  priority?: number;
  /** Values that limits may apply to, by dimension. */
  limitKeys?: Record<string, string>;
  /**
   * The run fails with `expired` if no worker starts it within this time after it was accepted, or after its delay.
   */
  ttlMs?: number;
  /** Stored in the refs of the user message. */
  extraRefs?: JsonObject;
}

/** A slot whose time has come, and its outcome. */
export interface ScheduleSlot {
  /** The time of the slot, without jitter. */
  slot: Date;
  /** When the slot starts its run: the time of the slot plus its jitter. */
  dueAt: Date;
  status: 'due' | 'firing' | 'fired' | 'skipped' | 'missed' | 'failed';
  /** When the status became final. */
  settledAt: Date | null;
  threadId: string | null;
  runId: string | null;
  /** Why it failed. */
  error: {
    code: string;
    message: string;
  } | null;
}

export interface Schedules {
  /** Sorted by tenant and name. The library of one tenant lists only the schedules of that tenant. */
  list(options?: {
    /** The `nextAfter` of the previous page. */
    after?: string;
    /** Maximum number of items; default 50. */
    limit?: number;
  }): Promise<{
    data: ListedSchedule[];
    /**
     * Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty
     * even if more follow.
     */
    nextAfter: string | null;
  }>;
  /**
   * Get a schedule.
   *
   * @throws LanefoldError `schedule_not_found`
   */
  get(
    name: string,
    options?: {
      /** The tenant of the schedule; default: the tenant of the library, else `default`. */
      tenant?: string;
    },
  ): Promise<ListedSchedule>;
  /**
   * Sets or replaces a schedule. If its times stay the same, so does its next slot. A paused schedule stays paused.
   * Also throws what `runs.enqueue` throws for a request that its runs could not make.
   *
   * @throws LanefoldError `invalid_id`, `invalid_input`, `unknown_agent`, `override_not_allowed`
   */
  set(
    name: string,
    definition: ScheduleDefinition,
    options?: {
      /** The tenant of the schedule; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
      /**
       * Where the request comes from. With `http`, the agent must list every field that the request overrides. Default
       * `library`.
       */
      from?: OverrideCaller;
    },
  ): Promise<ListedSchedule>;
  /**
   * Remove a schedule. Runs that it has started continue.
   *
   * @throws LanefoldError `schedule_not_found`
   */
  remove(
    name: string,
    options?: {
      /** The tenant of the schedule; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<void>;
  /**
   * Starts no runs until it is resumed; slots that are due are skipped.
   *
   * @throws LanefoldError `schedule_not_found`
   */
  pause(
    name: string,
    options?: {
      /** The tenant of the schedule; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedSchedule>;
  /**
   * Resumes with the first slot from now on; slots that passed meanwhile do not run.
   *
   * @throws LanefoldError `schedule_not_found`
   */
  resume(
    name: string,
    options?: {
      /** The tenant of the schedule; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who changes it, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedSchedule>;
  /**
   * The slots whose time has come, newest first, also of a removed schedule.
   *
   * @throws LanefoldError `schedule_not_found`
   */
  slots(
    name: string,
    options?: {
      /** The tenant of the schedule; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** The `nextAfter` of the previous page. */
      after?: string;
      /** Maximum number of items; default 50. */
      limit?: number;
    },
  ): Promise<{
    data: ScheduleSlot[];
    /**
     * Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty
     * even if more follow.
     */
    nextAfter: string | null;
  }>;
}
