import type { JsonObject } from '../context/message.ts';
import type { ContentInput } from '../models/messages/accept-content.ts';

/** What a slot does while the run of an earlier one has not ended. */
export type Overlap = 'skip' | 'queue' | 'interrupt';
export const overlaps = ['skip', 'queue', 'interrupt'] as const satisfies Overlap[];

/** What happens to the slots that passed while no worker looked. */
export type CatchUp = 'none' | 'one' | 'all';
export const catchUps = ['none', 'one', 'all'] as const satisfies CatchUp[];

/** When a schedule starts runs. One of `cron` and `everyMs` is needed. */
export interface Timing {
  /**
   * Five fields (minute, hour, day of the month, month, day of the week), six with seconds in front, seven with a year at
   * the end, or a nickname such as `@daily`. A time that a change of the clock skips comes at the first time after it; a
   * time that comes twice counts once. Fields with `*` or a step follow the clock: they skip the hour that is missing and
   * run in both that are the same.
   */
  cron?: string;
  /** From 1,000 ms to a year. Counted from `startAt`, else from 1970: the same slots in every process. */
  everyMs?: number;
  /** IANA time zone of `cron` and of the times in the input, such as `Europe/Berlin`; default `UTC`. */
  timeZone?: string;
  /** The first slot is not before. */
  startAt?: Date;
  /** The last slot is before. */
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
  /** The thread that all its runs go on with, created if it does not exist; default: a new thread for each run. */
  threadId?: string;
  /** `skip` (default): the slot passes. `queue`: it waits. `interrupt`: the earlier run is cancelled. */
  overlap?: Overlap;
  /**
   * Of the slots that passed while no worker looked: `none` of them run, the newest `one` (default), or `all`, at most the
   * newest 1,000.
   */
  catchUp?: CatchUp;
  /** Each slot is delayed by up to this much, always by the same for a slot. From 0 to an hour; default 0. */
  jitterMs?: number;
  /** Overrides and options of its runs, as in `runs.enqueue`. */
  options?: ScheduleRunOptions;
}

/** Options of the runs of a schedule, as in `runs.enqueue`. */
export interface ScheduleRunOptions {
  model?: string;
  strategy?: string;
  tools?: string[];
  allowedTools?: string[];
  toolContext?: JsonObject;
  limitKeys?: Record<string, string>;
  maxIterations?: number;
  maxTotalTokens?: number;
  maxCost?: number;
  maxDurationMs?: number;
  priority?: number;
  ttlMs?: number;
  extraRefs?: JsonObject;
}
