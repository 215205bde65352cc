import type { StrategyEnding, StrategyTurn } from '../inquiry/inquiry.ts';
import { defineStrategy } from '../inquiry/machine.ts';
import { trmOptions, type TrmOptions } from './options.ts';
import { parseSupervision, type Supervision } from './parse.ts';
import { improveAsk, reasonAsk, superviseAsk } from './prompts.ts';

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
