import type { JsonObject } from '../context/message.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { StrategyMachine } from './machine.ts';
import type { StrategySelection } from './records.ts';
import { z } from 'zod';

export const adaptiveOptions = z.strictObject({
  /** The strategies it may choose from. `aot` is not included by default. */
  available: z.array(z.string()).max(100).default(['cod', 'cot', 'react', 'tot', 'got', 'trm']),
  /** A question scoring below this counts as simple; one scoring above `complex_threshold` counts as complex. */
  simple_threshold: z.number().min(0).max(1).default(0.3),
  complex_threshold: z.number().min(0).max(1).default(0.7),
  /** Chooses this strategy for every question. */
  strategy: z.string().optional(),
  /** Options for the strategies it may choose, by their names. */
  options: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
});

// prettier-ignore
const complexWords = [
  'analyze', 'explain', 'compare', 'contrast', 'evaluate', 'synthesize', 'consider', 'multiple', 'complex', 'design',
  'strategy', 'trade-off', 'implement', 'optimize', 'architecture',
];

const requirements = /must|should|need to|have to|require/g;

/**
 * How complex a question looks, from 0 to 1: by its length, sentences, words that signal complexity, questions and
 * requirements.
 */
function complexityOf(question: string): number {
  const text = question.toLowerCase();
  const words = text.split(/\s/u).length;
  const sentences = text.match(/[.!?]+/g)?.length ?? 0;
  const telling = complexWords.filter((word) => text.includes(word)).length;
  const asked = (text.match(/\?/g)?.length ?? 0) + (text.match(requirements)?.length ?? 0);
  return Math.min(
    share(words, 100) * 0.3 + share(sentences, 5) * 0.2 + share(telling, 3) * 0.3 + share(asked, 5) * 0.2,
    1,
  );
}

const share = (count: number, most: number): number => Math.min(count / most, 1);

// prettier-ignore
const words: [type: string, anyOf: string[]][] = [
  ['iterative_reasoning', ['puzzle', 'iterate', 'improve', 'refine', 'recursive', 'riddle']],
  ['synthesis', [
    'synthesize', 'combine', 'merge', 'integrate', 'aggregate', 'unify', 'consolidate',
    'relationships', 'connections', 'network', 'graph', 'linked', 'interdependent', 'perspectives', 'viewpoints',
  ]],
  ['tool_use', ['search', 'find', 'lookup', 'fetch', 'get', 'calculate', 'compute', 'call', 'execute', 'run', 'use', 'tool']],
  ['exploration', [
    'analyze', 'explore', 'consider', 'multiple', 'options', 'alternatives', 'compare', 'contrast', 'evaluate',
  ]],
  ['simple_query', ['what', 'is', 'who', 'when', 'where', 'define', 'explain', 'tell', 'me']],
];

/**
 * The kind of task a question looks like. Words also match inside others: "because" contains "use". The first match
 * wins.
 */
function taskTypeOf(question: string): string {
  const text = question.toLowerCase();
  return words.find(([, anyOf]) => anyOf.some((word) => text.includes(word)))?.[0] ?? 'general';
}

const preferred: Record<string, string[]> = {
  tool_use: ['react'],
  synthesis: ['got', 'tot'],
  exploration: ['aot', 'tot', 'got'],
  iterative_reasoning: ['trm', 'tot'],
};

/** Selects the strategy for a question: by its kind if that is decisive, else by how complex it looks. */
export function select(question: string, options: AdaptiveOptions): StrategySelection {
  const { available, strategy } = options;
  if (strategy !== undefined) return { strategy, score: 0.5, task_type: 'manual_override' };
  const score = complexityOf(question);
  const taskType = taskTypeOf(question);
  const byKind = preferred[taskType]?.find((name) => available.includes(name));
  return { strategy: byKind ?? byScore(score, options), score, task_type: taskType };
}

function byScore(score: number, { available, simple_threshold: simple, complex_threshold: complex }: AdaptiveOptions) {
  const wanted = score < simple ? ['cod', 'cot'] : score > complex ? ['aot', 'tot', 'got'] : ['react'];
  return wanted.find((name) => available.includes(name)) ?? available[0] ?? 'react';
}

/**
 * Selects a strategy for each question; the selected strategy executes the run. The choice is stored when the run is
 * accepted, so it never changes later.
 */
export const adaptive: StrategyMachine = {
  name: 'adaptive',
  tools: true,
  output: false,
  options: adaptiveOptions as unknown as NonNullable<StrategyMachine['options']>,
  select: (question, options: JsonObject) => select(question, options as unknown as AdaptiveOptions),
  start: neverExecuted,
  resume: neverExecuted,
  on: neverExecuted,
};

function neverExecuted(): never {
  throw new LanefoldError('internal', 'The strategy adaptive cannot execute a run itself.', {
    hint: 'Enqueue runs with the library or the API: they choose the strategy.',
  });
}

type AdaptiveOptions = z.output<typeof adaptiveOptions>;
