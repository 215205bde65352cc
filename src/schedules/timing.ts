import { Cron } from 'croner';
import type { Timing } from './definition.ts';

/** The first slot after a time; undefined if there is none any more. @throws Error for cron text that makes no sense */
export function nextSlot(timing: Timing, after: Date): Date | undefined {
  const { startAt, endAt } = timing;
  // a slot at startAt itself counts
  const from = startAt && startAt > after ? new Date(startAt.getTime() - 1) : after;
  const slot = timing.cron === undefined ? nextEvery(timing, from) : nextCron(timing, from);
  return slot && (endAt === undefined || slot < endAt) ? slot : undefined;
}

/** The next slots after a time. */
export function nextSlots(timing: Timing, after: Date, count: number): Date[] {
  const slots: Date[] = [];
  for (let slot = nextSlot(timing, after); slot && slots.length < count; slot = nextSlot(timing, slot))
    slots.push(slot);
  return slots;
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

/** Croner knows whole seconds, and continues after that of `from`. */
const nextCron = (timing: Timing, from: Date): Date | undefined => parseCron(timing).nextRun(from) ?? undefined;

/** Backwards from the end, because of a slot a second a week has too many to walk through; no further than `first`. */
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

const nextEvery = (timing: Timing, from: Date): Date => everyAt(timing, everyNo(timing, from) + 1);

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
