/**
 * Scorers of the package `autoevals` as scorers of evals.
 *
 * @module autoevals
 */
import { textOf } from '../../agent/context/message.ts';
import { LanefoldError } from '../../base/errors.ts';
import { defineScorer, scorerName, type Scorer, type ScorerInput } from './scorers/scorer.ts';

/** What a scorer of `autoevals` returns. */
export interface AutoevalsScore {
  name: string;
  score: number | null;
  metadata?: Record<string, unknown>;
  error?: unknown;
}

/** A scorer of `autoevals`, such as `Levenshtein` or `Factuality`: it takes `{ output, expected, input, … }`. */
export type AutoevalsScorer = (args: never) => AutoevalsScore | Promise<AutoevalsScore>;

export interface FromAutoevalsOptions {
  /** Default: the name of the function. */
  name?: string;
  /** Such as `autoevals 0.0.132`. */
  version?: string;
  /** Default 30,000. */
  timeoutMs?: number;
  /**
   * More arguments, or others than `output` (the answer), `expected` (`expected.answer`) and `input` (the last user
   * message); null if the scorer does not apply. Default: it applies to cases with `expected.answer`.
   */
  args?: (input: ScorerInput) => Record<string, unknown> | null;
}

/**
 * A scorer of `autoevals` as a scorer of evals. Its `metadata.rationale`, if it has one, becomes the reason.
 *
 * Scorers that ask a model (`Factuality`) ask it outside Lanefold, with the client that `autoevals` was given: these calls are in no log
 * and count against no budget. They also continue when the time of the scorer is up, because they take no signal.
 *
 * @throws LanefoldError `invalid_scorer`
 *
 * @example
 * ```ts
 * import { fromAutoevals } from 'lanefold/evals/autoevals';
 *
 * // import { Levenshtein } from 'autoevals';
 * const Levenshtein = ({ output, expected }: { output: string; expected?: string }) => ({
 *   name: 'Levenshtein',
 *   score: output === expected ? 1 : 0,
 * });
 * console.log(fromAutoevals(Levenshtein).name); // Levenshtein
 * ```
 */
export function fromAutoevals(scorer: AutoevalsScorer, options: FromAutoevalsOptions = {}): Scorer {
  if (typeof scorer !== 'function')
    throw new LanefoldError('invalid_scorer', 'fromAutoevals takes a scorer of autoevals, which is a function.', {
      hint: "Pass the function itself: fromAutoevals(Levenshtein), after import { Levenshtein } from 'autoevals'.",
    });
  const { args = needsExpected, name = scorer.name, ...rest } = options;
  if (options.name === undefined && !scorerName.test(name))
    throw new LanefoldError(
      'invalid_scorer',
      `The name of the function, ${JSON.stringify(name)}, cannot name a scorer.`,
      {
        hint: "Give one: fromAutoevals(scorer, { name: 'similarity' }).",
      },
    );
  const call = scorer as (args: Record<string, unknown>) => AutoevalsScore | Promise<AutoevalsScore>;
  return defineScorer({
    ...rest,
    name,
    score: async (input) => {
      const more = args(input);
      if (more === null) return null;
      const { answer: output, expected } = input;
      const given = {
        output,
        input: questionOf(input),
        ...(expected.answer !== undefined && { expected: expected.answer }),
      };
      const { score, metadata, error } = await call({ ...given, ...more });
      if (error) throw error;
      const rationale = metadata?.['rationale'];
      return { score, reason: typeof rationale === 'string' ? rationale : null };
    },
  });
}

const needsExpected = ({ expected }: ScorerInput): Record<string, unknown> | null =>
  expected.answer === undefined ? null : {};

const questionOf = ({ messages }: ScorerInput): string => {
  const question = messages.findLast(({ role }) => role === 'user');
  return question ? textOf(question.content) : '';
};
