import type { TotOptions } from './options.ts';
import type { Thought, Tree } from './tree.ts';

/** The open thoughts after an expansion, in the order in which they will be expanded. */
export function extendFrontier(
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
