import { z } from '@hono/zod-openapi';
import { count } from './values.ts';

export const Usage = z
  .object({
    input_tokens: count('Tokens sent.', 18),
    output_tokens: count('Tokens received.', 7),
    total_tokens: count('Their sum.', 25),
  })
  .catchall(z.number())
  .openapi('Usage', {
    description:
      'Token counters. Where the provider counts them, also `cache_read_tokens` and `cache_write_tokens`, part of the input, ' +
      '`reasoning_tokens`, part of the output, and its own. Where it does not count, Lanefold estimates: `estimated_tokens` ' +
      'says how many of the total are estimates.',
    example: { input_tokens: 18, output_tokens: 7, total_tokens: 25 },
  });
