import { LanefoldError } from '../../errors.ts';
import { placeName } from '../../limits/dimensions.ts';

// Why a run has to end that limits apply to.

export const exhausted = (place: string): LanefoldError =>
  new LanefoldError('budget_exhausted', `The limit ${placeName(place)} is exhausted.`, {
    hint: 'Raise the limit, or start the run again in its next interval.',
  });

export const tooSmall = (place: string, most: number, needed: number): LanefoldError =>
  new LanefoldError(
    'limit_too_small',
    `A model call needs ${needed} of the limit ${placeName(place)}, which is ${most}.`,
    { hint: 'Raise the limit, or lower maxOutputTokens of the agent.' },
  );

export const priceUnknown = (model: string, limit: string): LanefoldError =>
  new LanefoldError('price_unknown', `The price of model ${model} is unknown, and the limit ${limit} is in money.`, {
    hint: 'Limit tokens instead, use a model whose price is known, or pass priceOf to createLanefold.',
  });
