import { z } from '@hono/zod-openapi';
import { count, orNull } from './values.ts';

/** The cost of model calls. */
export const cost = {
  cost: z.number().nullable().openapi({
    description:
      'In US dollars, at the server’s own prices or the providers’ list prices; null if no tokens were spent on a model with a known price.',
    example: 0.0031,
  }),
  unpriced_tokens: count('Tokens of models without a known price; `cost` does not include them.', 0),
};

const rate = z.number().optional();

export const ModelCost = z
  .object({
    model: z.string().openapi({ example: 'openai:gpt-4o' }),
    input_tokens: count('Tokens of input, those of the provider’s cache included.', 1_200),
    output_tokens: count('Tokens of output.', 80),
    cached_tokens: count('Tokens of input read from the cache.', 1_024),
    written_tokens: count('Tokens of input written to the cache.', 0),
    cost: orNull(z.number()).openapi({ description: 'In US dollars; null if the price is unknown.', example: 0.0031 }),
    price: orNull(z.enum(['own', 'list'])).openapi({
      description: 'The price that was used: the server’s own, or the list price of the day the run was accepted.',
    }),
    per_million: orNull(z.object({ input: rate, output: rate, cache_read: rate, cache_write: rate })).openapi({
      description: 'The list price per million tokens, without rates that depend on the length of a request.',
      example: { input: 2.5, output: 10, cache_read: 1.25 },
    }),
  })
  .openapi('ModelCost');
