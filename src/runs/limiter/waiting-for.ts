import type { Clock } from '../../base/common/clock.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import { placeKey, placeName, valueOf } from '../../agent/limits/dimensions.ts';

/** What a run that a limit refused shows as `waiting_for`. @param delayMs until it may go on, if that is known */
export const waitingFor = (place: string, delayMs: number | undefined, clock: Clock): JsonObject => ({
  ...limitAt(place),
  ...(delayMs === undefined ? {} : { until: new Date(clock.now() + delayMs).toISOString() }),
});

/** The limit of a bucket, as events name it: without an owner it is the operator's. */
export function limitAt(place: string): { limit: string; owner?: string; key?: string } {
  const owner = place.slice(0, place.indexOf(' '));
  const key = valueOf(placeKey(place));
  return { limit: placeName(place), ...(owner === '*' ? {} : { owner }), ...(key === '' ? {} : { key }) };
}

/** The process that frees what a run waits for wakes its job. The job asks again at this time if no such process is left. */
export const longestDelayMs = 3_600_000;
