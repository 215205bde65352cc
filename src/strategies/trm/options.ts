import { z } from 'zod';

export const trmOptions = {
  /** Rounds of reasoning, supervision and improvement, at most. */
  max_supervision_steps: z.int().min(1).max(1_000).default(5),
  /** The score at which an answer is good enough. */
  act_threshold: z
    .number()
    .transform((value) => Math.min(Math.max(value, 0), 1))
    .default(0.9),
  /** Scores the last improvement too, with one more call; without it the last improvement is never the result. */
  evaluate_last: z.boolean().default(true),
};

export type TrmOptions = z.output<z.ZodObject<typeof trmOptions>>;
