import { z } from '@hono/zod-openapi';
import { count } from './values.ts';

/** The cost of model calls. */
export const cost = {
  cost: z.number().nullable().openapi({
    description:
      'In US dollars, by the list prices of the providers; null where nothing was spent on a model whose price is known.',
    example: 0.0031,
  }),
  unpriced_tokens: count('Tokens of models whose price nobody knows; `cost` is without them.', 0),
};
