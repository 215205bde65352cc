/** What to read the activity of. */
export interface Period {
  hours?: number | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  agent?: string | undefined;
  version?: string | undefined;
}

/** How a period is divided. */
export interface Slots {
  since: Date;
  until: Date;
  slotMinutes: number;
  /** The length of the counted slots that these are made of. */
  grain: 1 | 60 | 180 | 1440;
  /** A time at which a slot begins. */
  origin: Date;
}

const minute = 60_000;
/** A Monday. */
const origin = new Date('2001-01-01T00:00:00Z');
const lengths = [1, 2, 5, 10, 60, 180, 360, 1440, 7 * 1440];
const mostSlots = 62;
/** The lengths in which runs are counted. */
const grains = [1, 60, 180, 1440] as const;
/** Slots of minutes are kept for two days; see `count_activity`. */
const minutesKept = 47 * 60 * minute;

/**
 * Divides a period into at most about sixty slots. It begins with the slot that has its start, and not before `filledTo`, since
 * when all runs are counted.
 */
export function slotsOf({ hours = 24, ...asked }: Period, now: Date, filledTo: Date): Slots {
  const until = asked.until ?? now;
  const from = asked.since?.getTime() ?? until.getTime() - hours * 60 * minute;
  const length = until.getTime() - from;
  const shortest = now.getTime() - from <= minutesKept && length <= 10 * 60 * minute ? 1 : 60;
  const slotMinutes =
    lengths.find((one) => one >= shortest && one * minute * mostSlots >= length) ?? lengths[lengths.length - 1]!;
  const width = slotMinutes * minute;
  const step = (at: number, round: (count: number) => number) =>
    origin.getTime() + round((at - origin.getTime()) / width) * width;
  const since = Math.max(step(from, Math.floor), step(filledTo.getTime(), Math.ceil));
  return {
    since: new Date(since),
    until: asked.until ? new Date(step(until.getTime(), Math.ceil)) : until,
    slotMinutes,
    grain: grains.findLast((one) => one <= slotMinutes)!,
    origin,
  };
}
