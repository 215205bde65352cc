/** A node of the tree. */
export interface Thought {
  id: number;
  parent: number | null;
  depth: number;
  content: string;
  /** 0 to 1; null for the question. */
  score: number | null;
  children: number[];
}

/** Thoughts by their number; the question is 0. */
export type Tree = ReadonlyMap<number, Thought>;

export const newTree = (question: string): Tree =>
  new Map([[0, { id: 0, parent: null, depth: 0, content: question, score: null, children: [] }]]);

/** A thought and the new thoughts under it. */
export interface Family {
  parent: number;
  children: readonly { content: string; score: number }[];
}

/** Returns the tree with the new thoughts, numbered from `firstId` on, and those thoughts. */
export function addChildren(
  tree: Tree,
  families: readonly Family[],
  firstId: number,
): { tree: Tree; added: Thought[] } {
  const grown = new Map(tree);
  const added: Thought[] = [];
  for (const { parent: parentId, children } of families) {
    const parent = grown.get(parentId)!;
    const own = children.map(({ content, score }, i): Thought => {
      const id = firstId + added.length + i;
      return { id, parent: parentId, depth: parent.depth + 1, content, score, children: [] };
    });
    grown.set(parentId, { ...parent, children: own.map(({ id }) => id) });
    for (const thought of own) grown.set(thought.id, thought);
    added.push(...own);
  }
  return { tree: grown, added };
}

/** The thoughts without children, best first: by score, then deeper first, then older first. Excludes the question. */
export const rankedLeaves = (tree: Tree): Thought[] =>
  [...tree.values()]
    .filter(({ id, children }) => id > 0 && children.length === 0)
    .sort((a, b) => (b.score ?? 0) - (a.score ?? 0) || b.depth - a.depth || a.id - b.id);

/** The highest score of a thought without children; undefined if none has a score. */
export function bestLeafScore(tree: Tree): number | undefined {
  let best: number | undefined;
  for (const { children, score } of tree.values()) {
    if (children.length === 0 && score !== null && (best === undefined || score > best)) best = score;
  }
  return best;
}

/** The thoughts on the path from the question to a thought. */
export function pathTo(tree: Tree, id: number): Thought[] {
  const path: Thought[] = [];
  for (let at: number | null = id; at !== null;) {
    const thought: Thought = tree.get(at)!;
    path.unshift(thought);
    at = thought.parent;
  }
  return path;
}
