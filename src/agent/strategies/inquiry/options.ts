import { z } from 'zod';

/** Options of every strategy that asks its own questions. */
export const commonOptions = z.strictObject({
  /** Sends the messages of the lane before every question; otherwise a question is sent alone. */
  history: z.boolean().default(false),
  /** Writes every question and its answer to the log, each on a separate lane named `<run_id>.<node>`. */
  record_thoughts: z.boolean().default(false),
  /** Maximum concurrent model calls. */
  concurrency: z.int().min(1).max(64).default(8),
  /** Maximum tool rounds before the model has to answer a question, if it is offered tools. */
  max_tool_round_trips: z.int().min(0).max(100).default(3),
});

export type CommonOptions = z.output<typeof commonOptions>;
