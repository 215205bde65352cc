import type { JsonObject } from '../../../agent/context/message.ts';
import type { OptionsWith } from '../../../agent/definition/options.ts';
import type { ContentInput } from '../../../agent/models/accept-content.ts';

/** What a slot does if the run of an earlier slot has not ended. */
export type Overlap = 'skip' | 'queue' | 'interrupt';
export const overlaps = ['skip', 'queue', 'interrupt'] as const satisfies Overlap[];

/** Which of the slots that no worker saw in time still run. */
export type CatchUp = 'none' | 'one' | 'all';
export const catchUps = ['none', 'one', 'all'] as const satisfies CatchUp[];

/** When a schedule starts runs. One of `cron` and `everyMs` is needed. */
export interface Timing {
  /**
   * A cron expression: five fields (minute, hour, day of the month, month, day of the week), six with seconds in front,
   * seven with a year at the end, or a nickname such as `@daily`. A fixed time that a change of the clock skips comes
   * right after the change; one that occurs twice counts once. If the second, minute or hour has `*` or a step, slots
   * follow the clock: none in the missing hour, and slots in both passes through the repeated one.
   */
  cron?: string;
  /** From 1,000 ms to 366 days. Counted from `startAt`, else from 1970: the same slots in every process. */
  everyMs?: number;
  /** IANA time zone of `cron` and of the times in the input, such as `Europe/Berlin`; default `UTC`. */
  timeZone?: string;
  /** No slot is before this time. */
  startAt?: Date;
  /** Every slot is before this time. */
  endAt?: Date;
}

/** A schedule, as you set it. */
export interface ScheduleDefinition extends Timing {
  agent: string;
  /**
   * The user message of each run. In texts, `{{slot}}` is the time of the slot in ISO 8601, `{{date}}` and `{{time}}` its
   * date (2026-11-25) and time (09:00) in the time zone, and `{{previous}}` the time of the last slot that
   * started a run before it.
   */
  input: ContentInput;
  /** The thread that all its runs continue; created if it does not exist. Default: a new thread for each run. */
  threadId?: string;
  /** `skip` (default): the slot is skipped. `queue`: it waits. `interrupt`: it cancels the earlier run. */
  overlap?: Overlap;
  /**
   * Of the slots that no worker saw in time and those that have come since, run only the newest `one` (default), or
   * `all`, up to 1,000 late ones; `none`: only those on time.
   */
  catchUp?: CatchUp;
  /** Delays each slot by up to this much; the delay of a given slot is always the same. From 0 to an hour; default 0. */
  jitterMs?: number;
  /** Overrides and options of its runs, as in `runs.enqueue`. */
  options?: ScheduleRunOptions;
}

/** Options of the runs of a schedule, as in `runs.enqueue`. */
export interface ScheduleRunOptions extends OptionsWith<{ schedule: true }> {
  /** The run fails with `expired` if no worker has started it this long after it was accepted. */
  ttlMs?: number;
  /** Kept in the `refs` of the user message. */
  extraRefs?: JsonObject;
}
