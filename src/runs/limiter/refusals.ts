import { LanefoldError } from '../../base/errors.ts';
import { placeName } from '../../agent/limits/dimensions.ts';
import { limitAt } from './waiting-for.ts';

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
