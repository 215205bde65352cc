import type { StrategyAnswer, StrategyProgress, StrategyTurn } from '../inquiry/inquiry.ts';
import { defineStrategy } from '../inquiry/machine.ts';
import { expand } from './expand.ts';
import { newSearch, type Branch, type TotMemory } from './memory.ts';
import { totOptions } from './options.ts';
import { parseScores, parseThoughts } from './parse.ts';
import { evaluateAsk, generateAsk, repairAsk } from './prompts.ts';
import { toEnding } from './result.ts';

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
