import { Cron } from 'croner';
import type { ScheduleDefinition } from '../types.ts';
import { createHash } from 'node:crypto';

/** When a schedule starts runs. */
export type Timing = Pick<ScheduleDefinition, 'cron' | 'everyMs' | 'timeZone' | 'startAt' | 'endAt'>;

/** The first slot after a time; undefined if there is none. @throws Error for an invalid cron expression */
export const nextSlot = (timing: Timing, after: Date): Date | undefined => slotsAfter(timing)(after);

/** The next slots after a time. */
export function nextSlots(timing: Timing, after: Date, count: number): Date[] {
  const next = slotsAfter(timing);
  const slots: Date[] = [];
  while (slots.length < count) {
    const slot = next(slots.at(-1) ?? after);
    if (!slot) break;
    slots.push(slot);
  }
  return slots;
}

/** Finds the first slot after a time. Parsing a cron expression is most of the work, so it is done once. */
function slotsAfter(timing: Timing): (after: Date) => Date | undefined {
  const { startAt, endAt } = timing;
  const cron = timing.cron === undefined ? undefined : parseCron(timing);
  return (after) => {
    // a slot at startAt itself counts
    const from = startAt && startAt > after ? new Date(startAt.getTime() - 1) : after;
    // Croner knows whole seconds, and continues after that of `from`
    const slot = cron ? cron.nextRun(from) : everyAt(timing, everyNo(timing, from) + 1);
    return slot && (endAt === undefined || slot < endAt) ? slot : undefined;
  };
}

/** The slots from one that is known up to a time, oldest first: the newest `most` of them. */
export function slotsUntil(timing: Timing, first: Date, upTo: Date, most: number): Date[] {
  const end = timing.endAt && timing.endAt <= upTo ? new Date(timing.endAt.getTime() - 1) : upTo;
  const slots = timing.cron === undefined ? everyUntil(timing, first, end, most) : cronUntil(timing, first, end, most);
  const start = timing.startAt && timing.startAt > first ? timing.startAt : first;
  return slots.filter((slot) => slot >= start && slot <= end);
}

export const parseCron = ({ cron, timeZone = 'UTC' }: Timing): Cron =>
  new Cron(cron!, { timezone: timeZone, paused: true, fixedTimeRule: 'no-wildcard' });

/** Walks backwards from the end, because a week of one slot per second is too long to walk through; stops at `first`. */
function cronUntil(timing: Timing, first: Date, end: Date, most: number): Date[] {
  const cron = parseCron(timing);
  const slots: Date[] = [];
  // a run in the same second as the reference counts
  let before = new Date(Math.floor(end.getTime() / 1_000) * 1_000 + 1);
  while (slots.length < most) {
    const found = cron.previousRuns(Math.min(chunk, most - slots.length), before);
    slots.push(...found);
    const oldest = found.at(-1);
    if (oldest === undefined || oldest <= first) break;
    before = oldest;
  }
  return slots.reverse();
}

const chunk = 16;

function everyUntil(timing: Timing, first: Date, end: Date, most: number): Date[] {
  const last = everyNo(timing, end);
  const from = Math.max(everyNo(timing, first), last - most + 1);
  return Array.from({ length: Math.max(0, last - from + 1) }, (_, i) => everyAt(timing, from + i));
}

/** The number of the last slot up to a time. */
const everyNo = ({ everyMs = 1, startAt }: Timing, at: Date): number =>
  Math.floor((at.getTime() - (startAt?.getTime() ?? 0)) / everyMs);

const everyAt = ({ everyMs = 1, startAt }: Timing, no: number): Date =>
  new Date((startAt?.getTime() ?? 0) + no * everyMs);

/** How many late slots may be caught up. */
export const mostCaughtUp = 1_000;

/** What a schedule has to do once its next slot has come. */
export interface Due {
  /** The slots to run, oldest first; `late`: it is caught up, and waits for the run before it instead of being skipped. */
  slots: { slot: Date; late: boolean }[];
  /** The newest slot that passes without a run; undefined if there is none. */
  missed?: Date;
  /** The next slot; undefined: the schedule has ended. */
  next: Date | undefined;
}

/**
 * What to do at `now` if `first` was the next slot.
 *
 * If all slots that have come since are on time, each of them does what `overlap` says. If one of them is late, they are a
 * backlog, and `catchUp` decides about it: `all` of it runs, only the newest `one`, or what is on time.
 *
 * @param graceMs how late a slot may be to be on time
 */
export function dueAt(schedule: ScheduleDefinition, first: Date, now: Date, graceMs: number): Due {
  const { catchUp = 'one' } = schedule;
  const graceAt = new Date(now.getTime() - graceMs);
  const onTime = slotsUntil(schedule, first, now, mostCaughtUp).filter((slot) => slot >= graceAt);
  // one more, to know whether others pass
  const old = slotsUntil(schedule, first, new Date(graceAt.getTime() - 1), mostCaughtUp + 1);
  const late = old.length > 0 && catchUp !== 'none';
  const found = [...old, ...onTime];
  const most = late ? { one: 1, all: mostCaughtUp + onTime.length }[catchUp] : onTime.length;
  const passed = Math.max(0, found.length - most);
  const missed = found[passed - 1];
  return {
    slots: found.slice(passed).map((slot) => ({ slot, late })),
    ...(missed ? { missed } : {}),
    next: nextSlot(schedule, now),
  };
}

/** When a slot is due: the same part of the jitter delays it in every process. */
export function dueAfter(slot: Date, jitterMs: number, schedule: string): Date {
  if (jitterMs === 0) return slot;
  const digest = createHash('sha256').update(`${schedule} ${slot.toISOString()}`).digest();
  return new Date(slot.getTime() + Math.floor((digest.readUInt32BE(0) / 2 ** 32) * jitterMs));
}
