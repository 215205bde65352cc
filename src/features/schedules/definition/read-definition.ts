import { asKeys, optionsWith } from '../../../agent/definition/options.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { refuseUnknownKeys, type KeysOf } from '../../../base/checks/unknown-keys.ts';
import { catchUps, overlaps, type ScheduleDefinition, type ScheduleRunOptions, type Timing } from './definition.ts';
import { placeholderNames, unknownPlaceholder } from './template.ts';
import { isTimeZone } from '../../../base/checks/values.ts';
import { nextSlot, parseCron } from './timing.ts';

/** The error of a definition. */
const invalid = (field: string, problem: string): LanefoldError =>
  new LanefoldError('invalid_input', `The schedule is invalid: ${field} ${problem}.`, {
    hint: 'Nothing was written. Correct the field, and set the schedule again.',
    details: { field, problem },
  });

const longestJitterMs = 3_600_000;

const keys: KeysOf<ScheduleDefinition> = {
  agent: true,
  input: true,
  cron: true,
  everyMs: true,
  timeZone: true,
  startAt: true,
  endAt: true,
  threadId: true,
  overlap: true,
  catchUp: true,
  jitterMs: true,
  options: true,
};

const optionKeys: KeysOf<ScheduleRunOptions> = {
  ...asKeys(optionsWith({ schedule: true })),
  ttlMs: true,
  extraRefs: true,
};

/** Checks a schedule, except what `runs.enqueue` checks. @throws LanefoldError `invalid_input` */
export function readDefinition(
  given: ScheduleDefinition,
  now: Date,
  { mayHaveEnded = false } = {},
): ScheduleDefinition {
  if (typeof given !== 'object' || given === null) throw invalid('definition', 'must be an object');
  refuseUnknownKeys('schedules.set', given, keys);
  const { input, overlap, catchUp, jitterMs } = given;
  if (given.options !== undefined) refuseUnknownKeys('options of schedules.set', given.options, optionKeys);
  checkTiming(given, now, { mayHaveEnded });
  if (overlap !== undefined && !overlaps.includes(overlap)) throw invalid('overlap', `must be ${orOf(overlaps)}`);
  if (catchUp !== undefined && !catchUps.includes(catchUp)) throw invalid('catchUp', `must be ${orOf(catchUps)}`);
  if (jitterMs !== undefined && !(Number.isInteger(jitterMs) && jitterMs >= 0 && jitterMs <= longestJitterMs))
    throw invalid('jitterMs', 'must be a whole number of ms from 0 to an hour');
  const texts = typeof input === 'string' ? [input] : Array.isArray(input) ? input.map((part) => textOf(part)) : [];
  const unknown = texts.map(unknownPlaceholder).find((name) => name !== undefined);
  if (unknown !== undefined)
    throw invalid('input', `has the placeholder {{${unknown}}}, which is none of ${placeholderNames.join(', ')}`);
  return given;
}

const textOf = (part: unknown): string =>
  typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string' ? part.text : '';
const orOf = (values: readonly string[]): string => `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;

const shortestMs = 1_000;
const longestMs = 366 * 86_400_000;

/** @throws LanefoldError `invalid_input` */
function checkTiming(timing: Timing, now: Date, { mayHaveEnded = false } = {}): void {
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
