import type { ScheduleDefinition } from './definition.ts';
import { nextSlot, slotsUntil } from './timing.ts';

/** How many slots may be caught up. */
export const mostCaughtUp = 1_000;

/** What a schedule has to do once its next slot has come. */
export interface Due {
  /** The slots to run, oldest first; `late`: it is caught up, and waits for the run before it. */
  slots: { slot: Date; late: boolean }[];
  /** The newest slot that passes without a run; undefined if there is none. */
  missed?: Date;
  /** The next slot; undefined: the schedule has ended. */
  next: Date | undefined;
}

/**
 * What to do at `now` if `first` was the next slot.
 *
 * @param graceMs how late a slot may be to be on time: each of those runs; `catchUp` decides about older ones
 */
export function dueAt(schedule: ScheduleDefinition, first: Date, now: Date, graceMs: number): Due {
  const { catchUp = 'one' } = schedule;
  const graceAt = new Date(now.getTime() - graceMs);
  const onTime = slotsUntil(schedule, first, now, mostCaughtUp).filter((slot) => slot >= graceAt);
  // one more, to know whether others pass
  const old = slotsUntil(schedule, first, new Date(graceAt.getTime() - 1), mostCaughtUp + 1);
  const most = { all: mostCaughtUp, one: onTime.length === 0 ? 1 : 0, none: 0 }[catchUp];
  const caughtUp = old.slice(Math.max(0, old.length - most));
  const missed = old[old.length - caughtUp.length - 1];
  return {
    slots: [...caughtUp.map((slot) => ({ slot, late: true })), ...onTime.map((slot) => ({ slot, late: false }))],
    ...(missed ? { missed } : {}),
    next: nextSlot(schedule, now),
  };
}
