import { camelKeys, snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { Json, JsonObject } from '../../../agent/context/message.ts';
import { modelGiven, modelStored } from '../../../agent/models/model-chain.ts';
import { acceptContent } from '../../../agent/models/accept-content.ts';
import type { CatchUp, Overlap, ScheduleDefinition, ScheduleRunOptions } from '../types.ts';
import type { Timing } from './timing.ts';

/** A schedule as the database has it. */
export interface StoredSchedule {
  agent: string;
  overlap: Overlap;
  threadId: string | null;
  timing: StoredTiming;
  definition: StoredDefinition;
}

/** Times are ISO 8601. */
type StoredTiming = {
  cron?: string;
  every_ms?: number;
  time_zone?: string;
  start_at?: string;
  end_at?: string;
};

type StoredDefinition = {
  input: Json;
  catch_up?: CatchUp;
  jitter_ms?: number;
  options?: JsonObject;
};

export function toStored(given: ScheduleDefinition): StoredSchedule {
  const { agent, input, threadId, overlap = 'skip', catchUp, jitterMs, options, ...timing } = given;
  return {
    agent,
    overlap,
    threadId: threadId ?? null,
    timing: toStoredTiming(timing),
    definition: {
      input: acceptContent(input) as Json,
      ...(catchUp === undefined ? {} : { catch_up: catchUp }),
      ...(jitterMs ? { jitter_ms: jitterMs } : {}),
      ...(options && Object.keys(options).length > 0
        ? { options: snakeKeys(modelStored(omitUndefined(options))) as JsonObject }
        : {}),
    },
  };
}

const toStoredTiming = ({ cron, everyMs, timeZone, startAt, endAt }: Timing): StoredTiming => ({
  ...(cron === undefined ? {} : { cron }),
  ...(everyMs === undefined ? {} : { every_ms: everyMs }),
  ...(timeZone === undefined ? {} : { time_zone: timeZone }),
  ...(startAt === undefined ? {} : { start_at: startAt.toISOString() }),
  ...(endAt === undefined ? {} : { end_at: endAt.toISOString() }),
});

/** A stored schedule as a caller would set it, without the defaults. */
export function fromStored({ agent, overlap, threadId, timing, definition }: StoredSchedule): ScheduleDefinition {
  const { cron, every_ms: everyMs, time_zone: timeZone, start_at: startAt, end_at: endAt } = timing;
  const { input, catch_up: catchUp, jitter_ms: jitterMs, options } = definition;
  return {
    agent,
    input: input as ScheduleDefinition['input'],
    ...(cron === undefined ? {} : { cron }),
    ...(everyMs === undefined ? {} : { everyMs }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(startAt === undefined ? {} : { startAt: new Date(startAt) }),
    ...(endAt === undefined ? {} : { endAt: new Date(endAt) }),
    ...(threadId === null ? {} : { threadId }),
    ...(overlap === 'skip' ? {} : { overlap }),
    ...(catchUp === undefined ? {} : { catchUp }),
    ...(jitterMs === undefined ? {} : { jitterMs }),
    ...(options ? { options: camelKeys(modelGiven(options)) as ScheduleRunOptions } : {}),
  };
}
