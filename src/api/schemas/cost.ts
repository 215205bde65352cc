import { z } from '@hono/zod-openapi';
import { count } from './values.ts';

/** The cost of model calls. */
export const cost = {
  cost: z.number().nullable().openapi({
    description:
      'In US dollars, at the providers’ list prices; null if no tokens were spent on a model with a known price.',
    example: 0.0031,
  }),
  unpriced_tokens: count('Tokens of models without a known price; `cost` does not include them.', 0),
};
