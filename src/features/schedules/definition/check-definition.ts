import { LanefoldError } from '../../../base/errors.ts';
import type { ScheduleDefinition } from '../types.ts';
import { placeholderNames, unknownPlaceholder } from './template.ts';
import { isTimeZone } from '../../../base/checks/values.ts';
import { nextSlot, parseCron, type Timing } from './timing.ts';

/** The error of a definition. */
const invalid = (field: string, problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `The schedule is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written. Correct the field, and set the schedule again.',
    details: { field, problem },
  });

/**
 * Checks what the schemas of a schedule do not say, except what `runs.enqueue` checks.
 *
 * @throws LanefoldError `invalid_input`
 */
export function checkDefinition(given: ScheduleDefinition, now: Date, { mayHaveEnded = false } = {}): void {
  checkTiming(given, now, { mayHaveEnded });
  const { input } = given;
  const texts = typeof input === 'string' ? [input] : Array.isArray(input) ? input.map((part) => textOf(part)) : [];
  const unknown = texts.map(unknownPlaceholder).find((name) => name !== undefined);
  if (unknown !== undefined)
    throw invalid('input', `has the placeholder {{${unknown}}}, which is none of ${placeholderNames.join(', ')}`);
}

const textOf = (part: unknown): string =>
  typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string' ? part.text : '';

function checkTiming(timing: Timing, now: Date, { mayHaveEnded = false } = {}): void {
  const { cron, everyMs, timeZone, startAt, endAt } = timing;
  if (cron === undefined && everyMs === undefined)
    throw invalid('cron', 'is missing: a schedule needs cron or everyMs');
  if (cron !== undefined && everyMs !== undefined) throw invalid('everyMs', 'cannot be combined with cron');
  if (timeZone !== undefined && !isTimeZone(timeZone))
    throw invalid('timeZone', 'is not an IANA time zone, such as Europe/Berlin');
  for (const [field, at] of Object.entries({ startAt, endAt }))
    if (at !== undefined && !isTime(at)) throw invalid(field, 'is not a time from 1970 to 9999');
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
const isTime = (at: Date): boolean => at.getTime() >= 0 && at <= lastTime;
