import type { ScheduleDefinition } from './definition.ts';
import { nextSlot, slotsUntil } from './timing.ts';

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
