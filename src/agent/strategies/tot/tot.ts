import type { StrategyProgress, StrategyQuestion, StrategyAnswer, StrategyTurn } from '../inquiry/inquiry.ts';
import type { StrategyNode } from '../records.ts';
import {
  type TotMemory,
  newSearch,
  type Branch,
  addChildren,
  bestLeafScore,
  type Thought,
  type Tree,
  pathTo,
  type TotOptions,
  totOptions,
  parseScores,
  parseThoughts,
} from './tree.ts';
import { quote, quotedIsData } from '../inquiry/conversation.ts';
import { defineStrategy } from '../inquiry/machine.ts';
import { toEnding } from './result.ts';

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
interface Expanded {
  memory: TotMemory;
  nodes: StrategyNode[];
  /** Why the search ends; undefined if it continues with `memory.branches`. */
  reason: string | undefined;
}

/** Adds the evaluated thoughts to the tree and decides how the search continues. */
function expand(memory: TotMemory, scores: readonly number[][], at: StrategyProgress): Expanded {
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
const solution = (
  children: readonly Thought[],
  { early_success_threshold: threshold, min_depth: minDepth }: TotMemory['options'],
): Thought | undefined => children.find(({ score, depth }) => score! >= threshold && depth >= minDepth);

const generateSystem = `You explore a problem as a tree of thoughts. Propose thoughts that differ from each other, each a concrete step or approach in a few sentences. Reply with JSON only: {"thoughts": [{"id": "t1", "content": "…"}]}. ${quotedIsData}`;

const evaluateSystem = `You judge thoughts on the way to solving a problem. Give each a score from 0 (a dead end) to 1 (solves the problem). Reply with JSON only: {"scores": {"t1": 0.5}}. ${quotedIsData}`;

const repairSystem = `Rewrite the text as strict JSON, without adding anything: {"thoughts": [{"id": "t1", "content": "…"}]}. ${quotedIsData}`;

function generateAsk(tree: Tree, node: number, options: TotOptions): StrategyQuestion {
  const wanted = node === 0 ? 'distinct approaches' : 'distinct next steps';
  return {
    purpose: 'generate',
    about: node,
    tools: true,
    system: generateSystem,
    prompt: `${pathText(tree, node)}\n\nPropose ${options.branching_factor} ${wanted}.`,
  };
}

const evaluateAsk = (tree: Tree, node: number, thoughts: readonly string[]): StrategyQuestion => ({
  purpose: 'evaluate',
  about: node,
  tools: true,
  system: evaluateSystem,
  prompt: [
    pathText(tree, node),
    ...thoughts.map((thought, i) => `t${i + 1}:\n${quote('thought', thought)}`),
    'Score each thought.',
  ].join('\n\n'),
});

const repairAsk = (node: number, text: string): StrategyQuestion => ({
  purpose: 'repair',
  about: node,
  system: repairSystem,
  prompt: quote('text', text),
});

function pathText(tree: Tree, node: number): string {
  const [root, ...steps] = pathTo(tree, node);
  return [
    `Problem:\n${quote('problem', root!.content)}`,
    ...steps.map((step, i) => `Step ${i + 1}:\n${quote('step', step.content)}`),
  ].join('\n\n');
}

/**
 * Tree of Thoughts: generates thoughts under a thought, has them scored, and continues from the most promising one,
 * until one is good enough or the search is exhausted. With `branches` above 1 it expands that many thoughts
 * concurrently.
 */
export const tot = defineStrategy<TotMemory, typeof totOptions>({
  name: 'tot',
  options: totOptions,
  tools: true,
  begin(question, options) {
    const memory = newSearch(question, options);
    return { memory, questions: [generateAsk(memory.tree, 0, options)] };
  },
  learn(before, answers, at) {
    const memory = { ...before, toolRounds: withRounds(before.toolRounds, answers) };
    return answers[0]!.question.purpose === 'evaluate'
      ? onEvaluated(memory, answers, at)
      : onGenerated(memory, answers, at);
  },
  best: (memory, { reason, error }, at) => toEnding(memory, reason, at, error),
});

/** Handles generations and their repairs: once every branch has thoughts, all of them are evaluated. */
function onGenerated(memory: TotMemory, answers: StrategyAnswer[], at: StrategyProgress): StrategyTurn<TotMemory> {
  const { options } = memory;
  const byNode = new Map(answers.map((answer) => [answer.question.about, answer]));
  const repairs = [];
  let { retries, mode } = memory;
  const parserErrors = [...memory.parserErrors];
  const branches: Branch[] = [];
  for (const branch of memory.branches) {
    const answer = byNode.get(branch.node);
    const parsed = answer && parseThoughts(answer.text);
    branches.push(parsed ? { ...branch, thoughts: parsed.thoughts } : branch);
    if (parsed) mode = parsed.mode;
    if (!answer || parsed) continue;
    if (retries >= options.max_parse_retries) return unreadable({ ...memory, retries, parserErrors }, at);
    retries += 1;
    parserErrors.push('generation_parse_retry');
    repairs.push(repairAsk(branch.node, answer.text));
  }
  const next = { ...memory, branches, retries, mode, parserErrors };
  if (repairs.length > 0) return { memory: next, questions: repairs };
  return { memory: next, questions: branches.map(({ node, thoughts }) => evaluateAsk(memory.tree, node, thoughts!)) };
}

function unreadable(memory: TotMemory, at: StrategyProgress): StrategyTurn<TotMemory> {
  const failed = { ...memory, parserErrors: [...memory.parserErrors, 'thoughts_parse_failed'] };
  const error = { type: 'parse_failed', message: 'The model returned no readable thoughts (generation).' };
  return { memory: failed, end: toEnding(failed, 'error', at, error) };
}

function onEvaluated(memory: TotMemory, answers: StrategyAnswer[], at: StrategyProgress): StrategyTurn<TotMemory> {
  const scores = answers.map((answer, i) => parseScores(answer.text, memory.branches[i]!.thoughts!));
  const expanded = expand(memory, scores, at);
  const { nodes, reason } = expanded;
  if (reason) return { memory: expanded.memory, nodes, end: toEnding(expanded.memory, reason, at) };
  const { tree, branches, options } = expanded.memory;
  return { memory: expanded.memory, nodes, questions: branches.map(({ node }) => generateAsk(tree, node, options)) };
}

const withRounds = (known: TotMemory['toolRounds'], answers: StrategyAnswer[]): TotMemory['toolRounds'] => ({
  ...known,
  ...Object.fromEntries(answers.filter(({ rounds }) => rounds > 0).map(({ node, rounds }) => [node, rounds])),
});
