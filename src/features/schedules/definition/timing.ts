import { Cron } from 'croner';
import type { Timing } from './definition.ts';

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
