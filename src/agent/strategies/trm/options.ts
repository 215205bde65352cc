import { z } from 'zod';

export const trmOptions = {
  /** Maximum rounds of reasoning, supervision and improvement. */
  max_supervision_steps: z.int().min(1).max(1_000).default(5),
  /** The score at which an answer is good enough. */
  act_threshold: z
    .number()
    .transform((value) => Math.min(Math.max(value, 0), 1))
    .default(0.9),
  /** Also scores the last improvement, with one more call; otherwise the last improvement can never be the result. */
  evaluate_last: z.boolean().default(true),
};

export type TrmOptions = z.output<z.ZodObject<typeof trmOptions>>;
