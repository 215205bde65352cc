import type { StrategyQuestion, StrategyEnding, StrategyTurn } from './inquiry/inquiry.ts';
import { quote, quotedIsData } from './inquiry/conversation.ts';
import { defineStrategy } from './inquiry/machine.ts';
import { z } from 'zod';

export const trmOptions = {
  /** Maximum rounds of reasoning, supervision and improvement. */
  max_supervision_steps: z.int().min(1).max(1_000).default(5),
  /** The score at which an answer is good enough. */
  act_threshold: z
    .number()
    .transform((value) => Math.min(Math.max(value, 0), 1))
    .default(0.9),
  /** Also scores the last improvement, with one more call; otherwise the last improvement can never be the result. */
  evaluate_last: z.boolean().default(true),
};

const reasonAsk = (question: string, answer: string, about = 0): StrategyQuestion => ({
  purpose: 'reason',
  about,
  system: `Reason about the question step by step. ${answer ? 'Say what the answer so far gets right, and what it lacks.' : 'Give the best answer you can.'} ${quotedIsData}`,
  prompt: [quote('question', question), ...(answer ? [quote('answer', answer)] : [])].join('\n\n'),
});

const superviseAsk = (question: string, answer: string, about: number): StrategyQuestion => ({
  purpose: 'supervise',
  about,
  system: `Judge the answer critically. Write one line each for what is good ("STRENGTH: …"), what is wrong ("ISSUE: …") and what would help ("SUGGESTION: …"). End with "SCORE: " and a number from 0 to 1. ${quotedIsData}`,
  prompt: `${quote('question', question)}\n\n${quote('answer', answer)}`,
});

interface Critique {
  question: string;
  answer: string;
  insights: string;
  issues: string[];
  suggestions: string[];
  node: number;
}

const improveAsk = ({ question, answer, insights, issues, suggestions, node }: Critique): StrategyQuestion => ({
  purpose: 'improve',
  about: node,
  system: `Rewrite the answer so that it resolves the issues. Reply with the whole new answer and nothing else. ${quotedIsData}`,
  prompt: [
    quote('question', question),
    quote('answer', answer),
    ...(insights && insights !== answer ? [quote('insights', insights)] : []),
    ...(issues.length > 0 ? [quote('issues', issues.join('\n'))] : []),
    ...(suggestions.length > 0 ? [quote('suggestions', suggestions.join('\n'))] : []),
  ].join('\n\n'),
});

interface TrmMemory {
  question: string;
  options: TrmOptions;
  /** From 1. */
  step: number;
  insights: string;
  answer: string;
  /** The node that holds `answer`. */
  node: number;
  /** The best scored answer; null until an answer scores above 0. */
  best: { answer: string; score: number } | null;
  scores: readonly number[];
  /** Why no improvement follows the last one. */
  ending?: string;
}

/**
 * Recursive improvement: reasons about the answer, has it criticised and scored, and improves it, until it is good
 * enough or stops getting better.
 */
export const trm = defineStrategy<TrmMemory, typeof trmOptions>({
  name: 'trm',
  options: trmOptions,
  begin: (question, options) => ({
    memory: { question, options, step: 1, insights: '', answer: '', node: 0, best: null, scores: [] },
    questions: [reasonAsk(question, '')],
  }),
  learn(memory, [answer]) {
    const { question, text, node } = answer!;
    if (question.purpose === 'reason') return onReasoned(memory, text.trim(), node);
    return question.purpose === 'supervise'
      ? onSupervised(memory, parseSupervision(text))
      : onImproved({ ...memory, answer: text.trim(), node });
  },
  best: (memory, { reason }) => toEnding(memory, reason),
});

/** Takes the first reasoning as the first answer. */
function onReasoned(before: TrmMemory, insights: string, node: number): StrategyTurn<TrmMemory> {
  const memory = before.step === 1 ? { ...before, insights, answer: insights, node } : { ...before, insights };
  return { memory, questions: [superviseAsk(memory.question, memory.answer, memory.node)] };
}

function onSupervised(before: TrmMemory, { score, issues, suggestions }: Supervision): StrategyTurn<TrmMemory> {
  const { question, answer, node, insights } = before;
  const better = score > (before.best?.score ?? 0);
  const memory = {
    ...before,
    scores: [...before.scores, score],
    ...(better ? { best: { answer, score } } : {}),
  };
  const nodes = [{ node, status: 'answered', score }];
  if (memory.ending) return { memory, nodes, end: toEnding(memory, memory.ending) };
  return { memory, nodes, questions: [improveAsk({ question, answer, insights, issues, suggestions, node })] };
}

function onImproved(memory: TrmMemory): StrategyTurn<TrmMemory> {
  const { question, answer, node, options } = memory;
  const reason = reasonToStop(memory);
  if (!reason) return { memory: { ...memory, step: memory.step + 1 }, questions: [reasonAsk(question, answer, node)] };
  if (!options.evaluate_last) return { memory, end: toEnding(memory, reason) };
  return { memory: { ...memory, ending: reason }, questions: [superviseAsk(question, answer, node)] };
}

function reasonToStop({ step, scores, options }: TrmMemory): string | undefined {
  const last = scores.at(-1)!;
  if (step >= options.max_supervision_steps) return 'max_steps';
  if (last >= options.act_threshold) return 'act_threshold';
  const recent = scores.slice(-3);
  if (recent.length === 3 && Math.max(...recent) - Math.min(...recent) < 0.02) return 'convergence_detected';
  return last >= 0.98 ? 'act_threshold' : undefined;
}

function toEnding({ best, answer }: TrmMemory, reason: string): StrategyEnding {
  const text = best?.answer || answer || null;
  return { reason, answer: text, result: text };
}

/** The assessment of an answer. */
interface Supervision {
  /** 0 to 1: the written score, else an estimate from the numbers of strengths and issues. */
  score: number;
  issues: string[];
  /** The most promising suggestion first. */
  suggestions: string[];
}

// Match whole words: "incorrect" is not a strength. Require a colon, which ordinary prose does not have after them.
const score = /(?<![\p{L}\p{N}_])score(?![\p{L}\p{N}_])/giu;

const number = /^[\s*:：=]{0,20}(\d+(?:\.\d+)?)/u;

const marked = /^[-*•\s]*(\p{L}+)\**[:：]\**/u;

const strengthWords = new Set(['strength', 'strengths', 'correct', 'good', 'clear', 'complete', 'well']);

const issueWords = new Set(['issue', 'issues', 'problem', 'error', 'incorrect', 'missing', 'unclear', 'weakness']);

const suggestionWords = new Set(['suggestion', 'suggestions', 'improve', 'fix']);

export function parseSupervision(text: string): Supervision {
  const strengths = new Set<string>();
  const issues = new Set<string>();
  const suggestions = new Set<string>();
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    const found = marked.exec(trimmed);
    const content = found && trimmed.slice(found[0].length).trim();
    if (!content) continue;
    const word = found[1]!.toLowerCase();
    if (strengthWords.has(word)) strengths.add(content);
    else if (issueWords.has(word)) issues.add(content);
    else if (suggestionWords.has(word)) suggestions.add(content);
  }
  return {
    score: writtenScore(text) ?? estimatedScore(strengths.size, issues.size),
    issues: [...issues],
    suggestions: [...suggestions].sort((a, b) => impact(b) - impact(a)),
  };
}

function writtenScore(text: string): number | undefined {
  for (const { index } of text.matchAll(score)) {
    const found = number.exec(text.slice(index + 'score'.length, index + 60));
    if (found) return Math.min(Number(found[1]), 1);
  }
  return undefined;
}

function estimatedScore(strengths: number, issues: number): number {
  if (strengths === 0 && issues === 0) return 0.5;
  if (strengths > 2 * issues) return 0.8;
  if (strengths > issues) return 0.65;
  if (issues > 2 * strengths) return 0.3;
  return issues > strengths ? 0.45 : 0.5;
}

const urgent = /(?<!\p{L})(?:critical|must|major|wrong|essential|important)(?!\p{L})/iu;

const impact = (suggestion: string): number => (urgent.test(suggestion) ? 2 : suggestion.length > 100 ? 1 : 0);

type TrmOptions = z.output<z.ZodObject<typeof trmOptions>>;
