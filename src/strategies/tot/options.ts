import { z } from 'zod';

const share = z.number().min(0).max(1);

export const totOptions = {
  /** How many thoughts each generation asks for. A model may give more or fewer; all are taken. */
  branching_factor: z.int().min(1).max(50).default(3),
  /** The search ends when a thought reaches this depth; the question has depth 0. */
  max_depth: z.int().min(1).max(1_000).default(3),
  traversal: z.enum(['best_first', 'bfs', 'dfs']).default('best_first'),
  /** How many candidates the result has, at most. */
  top_k: z.int().min(1).max(100).default(3),
  /** A score ends the search early only from this depth on. */
  min_depth: z.int().min(0).max(1_000).default(2),
  /** Thoughts of the tree, the question included. */
  max_nodes: z.int().min(1).max(100_000).default(100),
  /** How many open thoughts `best_first` keeps; null: all. */
  beam_width: z.int().min(1).max(10_000).nullable().default(null),
  /** How many open thoughts are expanded at the same time. */
  branches: z.int().min(1).max(64).default(1),
  /** The score that ends the search. */
  early_success_threshold: share.default(1),
  /** The search ends when the best score has risen by less than `min_score_improvement` over so many expansions; 1: never. */
  convergence_window: z.int().min(1).max(1_000).default(2),
  min_score_improvement: z.number().min(0).default(0.02),
  /** Repairs of generations that cannot be read, for the whole run. */
  max_parse_retries: z.int().min(0).max(100).default(1),
};

export type TotOptions = z.output<z.ZodObject<typeof totOptions>>;
