import type { ParserMode } from './parse.ts';
import type { TotOptions } from './options.ts';
import { newTree, type Tree } from './tree.ts';

/** The state of a search. */
export interface TotMemory {
  options: TotOptions;
  tree: Tree;
  /** Open thoughts, the next one first. */
  frontier: readonly number[];
  /** The thoughts being expanded, with the thoughts generated under each. */
  branches: readonly Branch[];
  /** The best scores of the last expansions, the latest last. */
  window: readonly number[];
  retries: number;
  /** How the last generation was parsed. */
  mode: ParserMode | null;
  parserErrors: readonly string[];
  /** Tool rounds by the node of the answer. */
  toolRounds: Readonly<Record<string, number>>;
}

export interface Branch {
  node: number;
  thoughts?: readonly string[];
}

export const newSearch = (question: string, options: TotOptions): TotMemory => ({
  options,
  tree: newTree(question),
  frontier: [],
  branches: [{ node: 0 }],
  window: [],
  retries: 0,
  mode: null,
  parserErrors: [],
  toolRounds: {},
});
