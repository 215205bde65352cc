import { z } from 'zod';
import type { JsonObject } from '../../context/message.ts';
import { maxDepth, parseJson } from '../../../base/common/json.ts';

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

const newTree = (question: string): Tree =>
  new Map([[0, { id: 0, parent: null, depth: 0, content: question, score: null, children: [] }]]);

/** A thought and the new thoughts under it. */
interface Family {
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

/** The highest score of a thought without children; undefined if no such thought has a score. */
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

/** The JSON object in the first ```json fence, or the JSON object that the text consists of; undefined without one. */
const jsonIn = (text: string): JsonObject | undefined => objectOf(fenced(text)) ?? objectOf(text);

function objectOf(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = parseJson(text, maxDepth);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function fenced(text: string): string | undefined {
  const opening = /```json\b/iu.exec(text);
  if (!opening) return undefined;
  const from = opening.index + opening[0].length;
  const to = text.indexOf('```', from);
  return text.slice(from, to < 0 ? undefined : to);
}

// a decimal such as "3.5 is" is not a list number
const marker = /^\s*(\d{1,9})[.:)](?!\d)/u;

/**
 * The items of a numbered list (`1.`, `1:` or `1)` at the start of a line), each up to the next number; blank items are
 * skipped.
 */
function numberedItems(text: string): { number: number; content: string }[] {
  const items: { number: number; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const found = marker.exec(line);
    if (found) items.push({ number: Number(found[1]), lines: [line.slice(found[0].length)] });
    else items.at(-1)?.lines.push(line);
  }
  return items
    .map(({ number, lines }) => ({ number, content: lines.join('\n').trim() }))
    .filter(({ content }) => content !== '');
}

export type ParserMode = 'json' | 'regex';

/**
 * Parses the thoughts of a generation: from `{"thoughts": […]}`, with strings or objects with `content`, else from a
 * numbered list. Drops ids given by the model. Undefined if there are no thoughts.
 */
export function parseThoughts(text: string): { thoughts: string[]; mode: ParserMode } | undefined {
  const listed = jsonIn(text)?.['thoughts'];
  const fromJson = Array.isArray(listed) ? nonBlank(listed.map(contentOf)) : [];
  if (fromJson.length > 0) return { thoughts: fromJson, mode: 'json' };
  const fromList = numberedItems(text).map(({ content }) => content);
  return fromList.length > 0 ? { thoughts: fromList, mode: 'regex' } : undefined;
}

const contentOf = (item: unknown): string => {
  const content: unknown = typeof item === 'string' ? item : (Object(item) as { content?: unknown }).content;
  return typeof content === 'string' ? content : '';
};

const nonBlank = (texts: string[]): string[] => texts.map((text) => text.trim()).filter((text) => text !== '');

const unknownScore = 0.5;
const scoreLine = /^t?(\d{1,9})[.:)]\s*(-?\d+(?:\.\d+)?)/iu;

/**
 * Parses the scores of an evaluation, one for each thought: from `{"scores": {…}}` keyed by `t1`, `1` or the thought
 * itself, else from lines such as `1. 0.8`. Scores are between 0 and 1; a missing one is 0.5.
 */
export function parseScores(text: string, thoughts: readonly string[]): number[] {
  const given = jsonIn(text)?.['scores'];
  if (given !== null && typeof given === 'object' && !Array.isArray(given)) {
    return thoughts.map((thought, i) => {
      const key = [`t${i + 1}`, `${i + 1}`, thought].find((name) => Object.hasOwn(given, name));
      return key === undefined ? unknownScore : toScore(given[key]);
    });
  }
  const byIndex = new Map<number, number>();
  for (const line of text.split('\n')) {
    const found = scoreLine.exec(line.trimStart());
    if (found && !byIndex.has(Number(found[1]))) byIndex.set(Number(found[1]), toScore(found[2]));
  }
  return thoughts.map((_, i) => byIndex.get(i + 1) ?? unknownScore);
}

function toScore(value: unknown): number {
  const number = typeof value === 'string' ? parseFloat(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return unknownScore;
  return Math.min(Math.max(number, 0), 1);
}
