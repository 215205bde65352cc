import { z } from 'zod';

export const gotOptions = {
  /** Generations of thoughts, each built on the one before. */
  generations: z.int().min(1).max(100).default(2),
  /** Thoughts of a generation, asked for at the same time. From 2 on, connections between thoughts are found and used. */
  branches: z.int().min(1).max(64).default(1),
  /**
   * What becomes of the last generation: `synthesis` combines its thoughts, `weighted` has them scored first and combines
   * them by weight, `voting` has them voted on and takes the winner as it is.
   */
  aggregation: z.enum(['synthesis', 'voting', 'weighted']).default('synthesis'),
  /** Votes, where the aggregation is `voting`. */
  votes: z.int().min(1).max(64).default(3),
  /** Thoughts of the graph, the question included, and its depth: beyond them the search ends with the latest thought. */
  max_nodes: z.int().min(2).max(100_000).default(20),
  max_depth: z.int().min(1).max(1_000).default(5),
};

export type GotOptions = z.output<z.ZodObject<typeof gotOptions>>;
