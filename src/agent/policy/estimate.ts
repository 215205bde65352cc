import type { Message } from '../context/message.ts';
import { heuristicTokens } from './heuristic.ts';
import { orLate } from '../../base/common/time-limit.ts';

/** Counts the tokens of a message for a model, `provider:model`. */
export type TokenEstimator = (message: Message, model: string) => number | Promise<number>;

export interface Estimate {
  tokens: number[];
  /**
   * Set if the estimator threw, returned something other than numbers or took too long: the heuristic counted all
   * messages.
   */
  fallback?: { mark: 'estimator_failed' | 'estimator_slow'; message: string };
}

/**
 * Tokens of messages by an estimator, or by the heuristic if it fails or takes longer than `timeoutMs`. Never rejects.
 */
export async function estimate(
  messages: readonly Message[],
  estimator: TokenEstimator,
  model: string,
  timeoutMs = 2_000,
): Promise<Estimate> {
  const tokens: number[] = [];
  const until = performance.now() + timeoutMs;
  try {
    for (const message of messages) {
      const counted = estimator(message, model);
      const count = typeof counted === 'number' ? counted : await before(until, counted);
      if (!Number.isFinite(count) || count < 0) throw new Error(`It returned ${String(count)}.`);
      tokens.push(count);
      if (performance.now() > until) throw new Slow();
    }
    return { tokens };
  } catch (error) {
    const mark = error instanceof Slow ? 'estimator_slow' : 'estimator_failed';
    const message = error instanceof Error ? error.message : String(error);
    return { tokens: messages.map((message) => heuristicTokens(message)), fallback: { mark, message } };
  }
}

class Slow extends Error {
  constructor() {
    super('It took too long.');
  }
}

const before = <T>(until: number, counted: Promise<T>): Promise<T> =>
  orLate(Math.max(until - performance.now(), 1), Promise.resolve(counted), () => {
    throw new Slow();
  });
