import { z } from 'zod';

export const gotOptions = {
  /** Generations of thoughts, each built on the previous one. */
  generations: z.int().min(1).max(100).default(2),
  /**
   * Thoughts per generation, asked for concurrently. With 2 or more, connections between thoughts are found and used.
   */
  branches: z.int().min(1).max(64).default(1),
  /**
   * How the last generation becomes the answer: `synthesis` combines its thoughts, `weighted` has them scored first and
   * combines them by weight, `voting` has them voted on and takes the winner unchanged.
   */
  aggregation: z.enum(['synthesis', 'voting', 'weighted']).default('synthesis'),
  /** Number of votes if the aggregation is `voting`. */
  votes: z.int().min(1).max(64).default(3),
  /**
   * Maximum thoughts in the graph, the question included, and its maximum depth. At either limit the search ends with
   * the latest thought.
   */
  max_nodes: z.int().min(2).max(100_000).default(20),
  max_depth: z.int().min(1).max(1_000).default(5),
};

export type GotOptions = z.output<z.ZodObject<typeof gotOptions>>;
