import { z } from 'zod';

/** Options of every strategy that asks questions of its own. */
export const commonOptions = z.strictObject({
  /** Sends the messages of the lane before every question; without it, a question stands alone. */
  history: z.boolean().default(false),
  /** Writes every question and its answer to the log, each on a lane named `<run_id>.<node>`. */
  record_thoughts: z.boolean().default(false),
  /** Model calls under way at the same time, at most. */
  concurrency: z.int().min(1).max(64).default(8),
  /** Tool rounds before the model has to answer a question, where it is offered tools. */
  max_tool_round_trips: z.int().min(0).max(100).default(3),
});

export type CommonOptions = z.output<typeof commonOptions>;
