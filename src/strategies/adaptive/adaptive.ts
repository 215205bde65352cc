import type { JsonObject } from '../../context/message.ts';
import { LanefoldError } from '../../errors.ts';
import type { Machine } from '../machine.ts';
import type { Selection } from '../selection.ts';
import { adaptiveOptions, type AdaptiveOptions } from './options.ts';
import { complexityOf } from './score.ts';
import { taskTypeOf } from './task-type.ts';

const preferred: Record<string, string[]> = {
  tool_use: ['react'],
  synthesis: ['got', 'tot'],
  exploration: ['aot', 'tot', 'got'],
  iterative_reasoning: ['trm', 'tot'],
};

/** The strategy for a question: by its kind where that tells, else by how complex it looks. */
export function select(question: string, options: AdaptiveOptions): Selection {
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
 * Chooses a strategy for each question; that one executes the run. The choice is stored with the run when it is accepted,
 * so nothing about it can change later.
 */
export const adaptive: Machine = {
  name: 'adaptive',
  tools: true,
  output: false,
  options: adaptiveOptions as unknown as NonNullable<Machine['options']>,
  select: (question, options: JsonObject) => select(question, options as unknown as AdaptiveOptions),
  start: neverExecuted,
  resume: neverExecuted,
  on: neverExecuted,
};

function neverExecuted(): never {
  throw new LanefoldError('internal', 'The strategy adaptive executes no run itself.', {
    hint: 'Enqueue runs with the library or the API: they choose the strategy.',
  });
}
