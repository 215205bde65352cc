import { z } from 'zod';

const share = z.number().min(0).max(1);

export const totOptions = {
  /** How many thoughts each generation asks for. The model may return more or fewer; all are taken. */
  branching_factor: z.int().min(1).max(50).default(3),
  /** The search ends when a thought reaches this depth; the question has depth 0. */
  max_depth: z.int().min(1).max(1_000).default(3),
  traversal: z.enum(['best_first', 'bfs', 'dfs']).default('best_first'),
  /** Maximum candidates in the result. */
  top_k: z.int().min(1).max(100).default(3),
  /** A score ends the search early only at this depth or deeper. */
  min_depth: z.int().min(0).max(1_000).default(2),
  /** Maximum thoughts in the tree, the question included. */
  max_nodes: z.int().min(1).max(100_000).default(100),
  /** How many open thoughts `best_first` keeps; null: all. */
  beam_width: z.int().min(1).max(10_000).nullable().default(null),
  /** How many open thoughts are expanded concurrently. */
  branches: z.int().min(1).max(64).default(1),
  /** The score that ends the search. */
  early_success_threshold: share.default(1),
  /**
   * The search ends when, over this many expansions, the best score rises by less than `min_score_improvement`; 1:
   * never.
   */
  convergence_window: z.int().min(1).max(1_000).default(2),
  min_score_improvement: z.number().min(0).default(0.02),
  /** Maximum repairs of unreadable generations in the whole run. */
  max_parse_retries: z.int().min(0).max(100).default(1),
};

export type TotOptions = z.output<z.ZodObject<typeof totOptions>>;
