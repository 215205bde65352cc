import type { Clock } from '../../base/common/timer.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import { placeKey, placeName, valueOf } from '../../agent/limits/dimensions.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { EventDraft } from '../../agent/strategies/machine.ts';

/** What a run that a limit refused shows as `limited_by`. @param delayMs until it may continue, if that is known */
export const limitedBy = (place: string, delayMs: number | undefined, clock: Clock): JsonObject => ({
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
export const maxDelayMs = 3_600_000;

// Why a run has to end that limits apply to.

export const exhausted = (place: string): LanefoldError =>
  new LanefoldError('budget_exhausted', `The limit ${placeName(place)} is exhausted.`, {
    hint: 'Raise the limit, or start the run again in its next interval.',
    details: limitAt(place),
  });

export const overBudget = (most: number, spent: number, cost: number): LanefoldError =>
  new LanefoldError(
    'budget_exhausted',
    `The run has spent ${dollars(spent)} of ${dollars(most)}, and its next call may cost ${dollars(cost)}.`,
    { hint: 'Raise maxCost, or lower maxOutputTokens of the agent.', details: { max_cost: most } },
  );

export const costTooSmall = (most: number, cost: number): LanefoldError =>
  new LanefoldError(
    'limit_too_small',
    `A model call of this run may cost ${dollars(cost)}, and maxCost is ${dollars(most)}.`,
    { hint: 'Raise maxCost, or lower maxOutputTokens of the agent.' },
  );

export const tooSmall = (place: string, most: number, needed: number): LanefoldError =>
  new LanefoldError(
    'limit_too_small',
    `A model call needs ${needed} of the limit ${placeName(place)}, which is ${most}.`,
    { hint: 'Raise the limit, or lower maxOutputTokens of the agent.' },
  );

/** @param limit such as `the limit monthly` */
export const priceUnknown = (model: string, limit: string): LanefoldError =>
  new LanefoldError('price_unknown', `The price of model ${model} is unknown, and ${limit} is in money.`, {
    hint: 'Limit tokens instead, use a model whose price is known, or pass priceOf to createLanefold, or to defineLanefold in the agents file.',
  });

/** Cheap calls cost millionths. */
const dollars = (amount: number): string => `$${Number(amount.toPrecision(3))}`;

interface Reached {
  reached: JsonObject[];
  exhausted?: JsonObject;
}

/** The events of the limits that a run has reached since its last step; `ends`: because of one. Forgets them. */
export function limitEvents(run: Reached, iteration: number, ends: boolean): EventDraft[] {
  const reached = run.reached.splice(0);
  if (ends && run.exhausted) reached.push({ ...run.exhausted, ends: true });
  return reached.map((data) => ({ kind: 'limit_reached', iteration, data }));
}
