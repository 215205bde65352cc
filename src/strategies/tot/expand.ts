import type { StrategyProgress } from '../inquiry/inquiry.ts';
import type { StrategyNode } from '../node.ts';
import type { TotMemory } from './memory.ts';
import { addChildren, bestLeafScore, type Thought, type Tree } from './tree.ts';
import type { TotOptions } from './options.ts';

/** The open thoughts after an expansion, in the order of their expansion. */
function extendFrontier(
  tree: Tree,
  frontier: readonly number[],
  children: readonly Thought[],
  { traversal, beam_width: beam }: TotOptions,
): number[] {
  const added = children.map(({ id }) => id);
  if (traversal === 'bfs') return [...frontier, ...added];
  if (traversal === 'dfs') return [...added, ...frontier];
  const scoreOf = (id: number) => tree.get(id)!.score ?? 0;
  const sorted = [...frontier, ...added].sort((a, b) => scoreOf(b) - scoreOf(a));
  return beam === null ? sorted : sorted.slice(0, beam);
}

/** The state of a search after its branches were evaluated. */
export interface Expanded {
  memory: TotMemory;
  nodes: StrategyNode[];
  /** Why the search ends; undefined if it continues with `memory.branches`. */
  reason: string | undefined;
}

/** Adds the evaluated thoughts to the tree and decides how the search continues. */
export function expand(memory: TotMemory, scores: readonly number[][], at: StrategyProgress): Expanded {
  const { options } = memory;
  const families = memory.branches.map(({ node, thoughts }, i) => ({
    parent: node,
    children: thoughts!.map((content, n) => ({ content, score: scores[i]![n]! })),
  }));
  const { tree, added: children } = addChildren(memory.tree, families, at.nextNode);
  const best = bestLeafScore(tree);
  const window = [...memory.window, best ?? 0].slice(-options.convergence_window);
  const grown: TotMemory = { ...memory, tree, window, branches: [] };
  const nodes: StrategyNode[] = children.map(({ id, parent, depth, content, score }) => {
    return { node: id, parent: parent!, depth, content, score: score!, status: 'open' };
  });
  const reason = reasonToEnd(grown, children, at);
  if (reason) return { memory: grown, nodes, reason };
  const frontier = extendFrontier(tree, memory.frontier, children, options);
  const popped = frontier.slice(0, options.branches);
  if (popped.length === 0) return { memory: grown, nodes, reason: 'max_depth' };
  return {
    memory: { ...grown, frontier: frontier.slice(popped.length), branches: popped.map((node) => ({ node })) },
    nodes: [...nodes, ...popped.map((node) => ({ node, status: 'expanded' }))],
    reason: undefined,
  };
}

/** The first reason that applies: order matters, because a tree can be full, solved and converged at once. */
function reasonToEnd(
  { tree, window, options }: TotMemory,
  children: readonly Thought[],
  at: StrategyProgress,
): string | undefined {
  if (tree.size >= options.max_nodes) return 'max_nodes';
  if (at.timeUp) return 'max_duration';
  if (solution(children, options)) return 'threshold';
  const full = options.convergence_window > 1 && window.length === options.convergence_window;
  if (full && window.at(-1)! - window[0]! < options.min_score_improvement) return 'converged';
  if (children.some(({ depth }) => depth >= options.max_depth)) return 'max_depth';
  return undefined;
}

/** The first thought good enough to end the search. */
export const solution = (
  children: readonly Thought[],
  { early_success_threshold: threshold, min_depth: minDepth }: TotMemory['options'],
): Thought | undefined => children.find(({ score, depth }) => score! >= threshold && depth >= minDepth);
