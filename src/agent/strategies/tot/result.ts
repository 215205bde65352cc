import type { JsonObject, Usage } from '../../context/message.ts';
import type { StrategyEnding, StrategyProgress } from '../inquiry/inquiry.ts';
import type { RunError } from '../records.ts';
import { type TotMemory, type ParserMode, pathTo, rankedLeaves, type Thought, type Tree } from './tree.ts';

export interface TotCandidate {
  node_id: number;
  content: string;
  score: number | null;
  depth: number;
  /** Node numbers on the path from the question, which is 0. */
  path_ids: number[];
  path_text: string[];
}

/** The result of a run with Tree of Thoughts. */
export interface TotResult {
  /** The first candidate; null if the search ended before it had a thought. */
  best: TotCandidate | null;
  /** Thoughts without children, best first; at most `top_k`. */
  candidates: TotCandidate[];
  termination: {
    /** `threshold`, `converged`, `max_depth`, `max_nodes`, a limit of the run, or `error`. */
    reason: string;
    status: 'completed' | 'error';
    depth_reached: number;
    node_count: number;
    duration_ms: number;
  };
  tree: {
    node_count: number;
    frontier_size: number;
    traversal_strategy: string;
    max_depth: number;
    branching_factor: number;
  };
  usage: Usage;
  diagnostics: {
    /** How the last generation was parsed; null before the first. */
    parser_mode: ParserMode | null;
    parse_retries: { generation: number; evaluation: number };
    parser_errors: string[];
    /** Tool rounds, by the node of the answer that needed them. */
    tool_rounds: Record<string, number>;
    convergence: { window: number; min_score_improvement: number; recent_best_scores: number[] };
    best_node_id: number | null;
    error?: RunError;
  };
}

export function toEnding(memory: TotMemory, reason: string, at: StrategyProgress, error?: RunError): StrategyEnding {
  const { options, tree, frontier, window } = memory;
  const candidates = rankedLeaves(tree)
    .slice(0, options.top_k)
    .map((leaf) => toCandidate(tree, leaf));
  const best = candidates[0] ?? null;
  const result: TotResult = {
    best,
    candidates,
    termination: {
      reason,
      status: error ? 'error' : 'completed',
      depth_reached: Math.max(...[...tree.values()].map(({ depth }) => depth)),
      node_count: tree.size,
      duration_ms: at.elapsedMs,
    },
    tree: {
      node_count: tree.size,
      frontier_size: frontier.length,
      traversal_strategy: options.traversal,
      max_depth: options.max_depth,
      branching_factor: options.branching_factor,
    },
    usage: at.usage,
    diagnostics: {
      parser_mode: memory.mode,
      parse_retries: { generation: memory.retries, evaluation: 0 },
      parser_errors: [...memory.parserErrors],
      tool_rounds: memory.toolRounds,
      convergence: {
        window: options.convergence_window,
        min_score_improvement: options.min_score_improvement,
        recent_best_scores: [...window],
      },
      best_node_id: best?.node_id ?? null,
      error,
    },
  };
  return {
    reason,
    answer: best?.content ?? null,
    result: result as unknown as JsonObject,
    ...(best && !error ? { nodes: [{ node: best.node_id, status: 'best' }] } : {}),
    error,
  };
}

function toCandidate(tree: Tree, { id, content, score, depth }: Thought): TotCandidate {
  const path = pathTo(tree, id);
  return {
    node_id: id,
    content,
    score,
    depth,
    path_ids: path.map((thought) => thought.id),
    path_text: path.map((thought) => thought.content),
  };
}
