import { z } from 'zod';

export const aotOptions = {
  /** How many worked examples the prompt has: 1, 2 or 3. */
  profile: z.enum(['short', 'standard', 'long']).default('standard'),
  /** Which search the prompt describes. */
  search_style: z.enum(['dfs', 'bfs']).default('dfs'),
  /** Worked examples in place of the built-in ones. */
  examples: z.array(z.string().max(20_000)).max(20).default([]),
  /** Fail a run whose response has no line "Answer: …", even where it claims a solution. */
  require_explicit_answer: z.boolean().default(true),
};

export type AotOptions = z.output<z.ZodObject<typeof aotOptions>>;
