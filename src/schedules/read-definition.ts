import { refuseUnknownKeys, type KeysOf } from '../checks/unknown-keys.ts';
import { checkTiming } from './check-timing.ts';
import { catchUps, overlaps, type ScheduleDefinition, type ScheduleRunOptions } from './definition.ts';
import { invalid } from './invalid-schedule.ts';
import { placeholderNames, unknownPlaceholder } from './template.ts';

const longestJitterMs = 3_600_000;

const keys: KeysOf<ScheduleDefinition> = {
  ...{ agent: true, input: true, cron: true, everyMs: true, timeZone: true, startAt: true, endAt: true },
  ...{ threadId: true, overlap: true, catchUp: true, jitterMs: true, options: true },
};

const optionKeys: KeysOf<ScheduleRunOptions> = {
  ...{ model: true, strategy: true, tools: true, allowedTools: true, toolContext: true, limitKeys: true },
  ...{ maxIterations: true, maxTotalTokens: true, maxCost: true, maxDurationMs: true },
  ...{ priority: true, ttlMs: true, extraRefs: true },
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
