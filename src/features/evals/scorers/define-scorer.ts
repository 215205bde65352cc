import { refuseUnknownKeys, type KeysOf } from '../../../base/checks/unknown-keys.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Scorer, ScorerDefinition } from './scorer.ts';

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
