import type { Json, Message } from '../../../agent/context/message.ts';
import type { Expected } from '../types.ts';
import { refuseUnknownKeys, type KeysOf } from '../../../base/checks/unknown-keys.ts';
import { LanefoldError } from '../../../base/errors.ts';

/** A case, as a scorer sees it. */
export interface ScoredCase {
  id: string;
  dataset: string;
  tags: string[];
  split: string | null;
  note: string | null;
}

/** The run that gave the answer, as a scorer sees it. */
export interface ScoredRun {
  threadId: string;
  id: string;
  agent: string;
  model: string | null;
  durationMs: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** In millionths of a US dollar; null if the price is unknown. */
  costMicros: number | null;
}

/** The last word of a person about an answer. */
export interface Opinion {
  rating: 'up' | 'down' | null;
  comment: string | null;
  by: string | null;
}

/** What a scorer gets. */
export interface ScorerInput {
  /** The text of the answer; empty if it consists of tool calls. */
  answer: string;
  /** The tool calls that the run made, in order. */
  toolCalls: { name: string; arguments: Json }[];
  /** What the model was sent for the answer. */
  messages: Message[];
  expected: Expected;
  /** What people think of the answers of the run: the last word of each. Empty for a run that an eval asked for. */
  feedback: Opinion[];
  /** Null for a run that a monitor scores. */
  case: ScoredCase | null;
  run: ScoredRun;
  /** Aborted when the scorer's time is up, or the eval is cancelled. */
  signal: AbortSignal;
}

/** From 0 to 1, or whether the answer passes; null if the scorer does not apply. */
export type ScoreValue = number | boolean | null;

export type ScorerResult = ScoreValue | { score: ScoreValue; reason?: string | null };

export interface ScorerDefinition {
  /** 1 to 64 letters, digits, underscores and hyphens, starting with a letter. */
  name: string;
  /** Change it whenever the same answer may get another score. */
  version?: string;
  /** Default 30,000. */
  timeoutMs?: number;
  score: (input: ScorerInput) => ScorerResult | Promise<ScorerResult>;
}

/** A scorer, made by `defineScorer`. */
export interface Scorer {
  readonly name: string;
  readonly version: string | null;
  readonly timeoutMs: number;
  readonly score: (input: ScorerInput) => ScorerResult | Promise<ScorerResult>;
}

const keys: KeysOf<ScorerDefinition> = { name: true, version: true, timeoutMs: true, score: true };

/** Conditions name scorers (`score.exact < 0.9`), so a name may not contain anything that a condition reads. */
export const scorerName = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** The longest delay of a timer. */
const maxTimeoutMs = 2 ** 31 - 1;

const invalid = (name: unknown, why: string, hint: string): LanefoldError =>
  new LanefoldError('invalid_scorer', `Scorer ${JSON.stringify(name) ?? String(name)} ${why}.`, {
    hint,
    details: { name },
  });

/**
 * Defines a scorer of answers.
 *
 * @throws LanefoldError `invalid_scorer` for an invalid name, version, timeout or function
 *
 * @example
 * ```ts
 * import { defineScorer } from 'lanefold/evals';
 *
 * const short = defineScorer({
 *   name: 'short',
 *   score: ({ answer }) => ({ score: answer.length <= 200, reason: `${answer.length} characters` }),
 * });
 * console.log(short.name, short.timeoutMs);
 * ```
 */
export function defineScorer(definition: ScorerDefinition): Scorer {
  const { name, version = null, timeoutMs = 30_000, score } = definition;
  refuseUnknownKeys(`Scorer ${JSON.stringify(name)}`, definition, keys, 'invalid_scorer');
  if (typeof name !== 'string' || !scorerName.test(name))
    throw invalid(
      name,
      'has an invalid name',
      'Use 1 to 64 letters, digits, underscores and hyphens; start with a letter.',
    );
  if (version !== null && (typeof version !== 'string' || version === '' || version.length > 128))
    throw invalid(name, 'has an invalid version', 'Use a text of 1 to 128 characters, or none.');
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > maxTimeoutMs)
    throw invalid(name, 'has an invalid timeoutMs', `Use a whole number of milliseconds from 1 to ${maxTimeoutMs}.`);
  if (typeof score !== 'function')
    throw invalid(name, 'has no score function', 'Add score: ({ answer, expected }) => ….');
  return Object.freeze({ name, version, timeoutMs, score });
}
