import { isTimeZone } from '../checks/time-zone.ts';
import type { Timing } from './definition.ts';
import { invalid } from './invalid-schedule.ts';
import { nextSlot, parseCron } from './timing.ts';

const shortestMs = 1_000;
const longestMs = 366 * 86_400_000;

/** @throws LanefoldError `invalid_input` */
export function checkTiming(timing: Timing, now: Date, { mayHaveEnded = false } = {}): void {
  const { cron, everyMs, timeZone, startAt, endAt } = timing;
  if (cron === undefined && everyMs === undefined)
    throw invalid('cron', 'is missing: a schedule needs cron or everyMs');
  if (cron !== undefined && everyMs !== undefined) throw invalid('everyMs', 'cannot be combined with cron');
  if (cron !== undefined && typeof cron !== 'string') throw invalid('cron', 'must be text');
  if (everyMs !== undefined && !(Number.isInteger(everyMs) && everyMs >= shortestMs && everyMs <= longestMs))
    throw invalid('everyMs', `must be a whole number of ms from ${shortestMs} to ${longestMs}`);
  if (timeZone !== undefined && !isTimeZone(timeZone))
    throw invalid('timeZone', 'is not an IANA time zone, such as Europe/Berlin');
  for (const [field, at] of Object.entries({ startAt, endAt }))
    if (at !== undefined && !isTime(at)) throw invalid(field, 'is not a Date up to the year 9999');
  if (startAt && endAt && startAt >= endAt) throw invalid('endAt', 'must be later than startAt');
  if (endAt && endAt <= now && !mayHaveEnded) throw invalid('endAt', 'has passed');
  if (cron !== undefined) checkCron(timing);
  if (nextSlot(timing, now) === undefined && !mayHaveEnded)
    throw invalid(cron === undefined ? 'endAt' : 'cron', 'never comes to a slot');
}

function checkCron(timing: Timing): void {
  // such as 2026-11-25T06:00:00, a single date
  if (timing.cron!.includes(':')) throw invalid('cron', 'is a time; a schedule needs fields such as 0 6 * * *');
  try {
    parseCron(timing);
  } catch (error) {
    throw invalid(
      'cron',
      `makes no sense: ${(error as Error).message.replace(/^CronPattern: /, '').replace(/\.$/, '')}`,
    );
  }
}

const lastTime = new Date('9999-12-31T23:59:59.999Z');
const isTime = (at: unknown): boolean => at instanceof Date && at.getTime() >= 0 && at <= lastTime;
