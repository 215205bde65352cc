import { LanefoldError } from '../../../base/errors.ts';
import type { EvalItem } from '../store/types.ts';
import { meanWithInterval, verdictOf, pairsByCase, type Bootstrap, type CasePairs, type CountedItem } from './pairs.ts';
import type { CaseComparison, ComparedAnswer, Comparison, TagComparison } from './report.ts';
import { meanOf, sumOf } from './rule.ts';
import { summarise } from './summarise.ts';

export interface CompareOptions {
  baseline: string;
  candidate: string;
  /** A whole number from 0 to 4,294,967,295; default 1. */
  seed?: number;
  /** From 100 to 100,000; default 2,000. */
  resamples?: number;
}

/** Means that differ by less are the same: sums of equal scores in another order differ in their last digits. */
const epsilon = 1e-9;

/**
 * Compares two variants by the cases and repeats that both have.
 *
 * @throws LanefoldError `invalid_input` for a variant without items, two items of the same case, variant and repeat, or
 * an invalid seed or number of resamples
 *
 * @example
 * ```ts
 * import { compareVariants, type EvalItem } from 'lanefold/evals';
 *
 * const itemOf = (caseId: string, variant: string, score: number): EvalItem => ({
 *   ...{ caseId, tags: [], variant, repeat: 1, status: 'done', answer: '20 €', error: null },
 *   scores: [{ scorer: 'answer', version: '1', score, reason: null, error: null }],
 *   ...{ durationMs: 800, inputTokens: 90, outputTokens: 8, costMicros: 120, endedBy: null, diverged: null, reused: false },
 * });
 * const cases = Array.from({ length: 12 }, (_, i) => `case_${i}`);
 * const items = cases.flatMap((id) => [itemOf(id, 'a', 1), itemOf(id, 'b', 0)]);
 * console.log(compareVariants(items, { baseline: 'a', candidate: 'b' }).verdict); // worse
 * ```
 */
export function compareVariants(items: readonly EvalItem[], options: CompareOptions): Comparison {
  const { baseline, candidate } = options;
  const bootstrap = checkBootstrap(options);
  for (const variant of [baseline, candidate])
    if (!items.some((item) => item.variant === variant))
      throw new LanefoldError('invalid_input', `No item has the variant ${JSON.stringify(variant)}.`, {
        hint: `The variants are ${[...new Set(items.map((item) => item.variant))].join(', ') || 'none'}.`,
        details: { variant },
      });
  const { byCase, unpaired } = pairsByCase(items, baseline, candidate);
  const compared = byCase.map(compareCase);
  const difference = meanWithInterval(
    compared.map((each) => each.difference),
    bootstrap,
  );
  const passRateDifference = meanWithInterval(
    byCase.map(({ pairs }) => meanOf(pairs.map((pair) => pair.passGain))!),
    bootstrap,
  );
  return {
    baseline,
    candidate,
    verdict: verdictOf(difference),
    cases: byCase.length,
    pairs: sumOf(byCase.map(({ pairs }) => pairs.length)),
    unpaired,
    ...(unpaired > 0 ? { paired: summariesOf(options, byCase) } : {}),
    difference,
    passRateDifference,
    ...countsOf(compared),
    byTag: tagsOf(compared).map((tag) => compareTag(tag, compared, bootstrap)),
    byCase: compared.sort((a, b) => a.difference - b.difference || (a.caseId < b.caseId ? -1 : 1)),
  };
}

export function checkBootstrap({ seed = 1, resamples = 2_000 }: { seed?: number; resamples?: number }): {
  seed: number;
  resamples: number;
} {
  const invalid = (what: string, from: number, to: number): LanefoldError =>
    new LanefoldError('invalid_input', `${what} of a report is a whole number from ${from} to ${to}.`);
  if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32) throw invalid('The seed', 0, 2 ** 32 - 1);
  if (!Number.isInteger(resamples) || resamples < 100 || resamples > 100_000)
    throw invalid('The number of resamples', 100, 100_000);
  return { seed, resamples };
}

function summariesOf(
  { baseline, candidate }: CompareOptions,
  byCase: readonly CasePairs[],
): NonNullable<Comparison['paired']> {
  const pairs = byCase.flatMap((each) => each.pairs);
  return {
    baseline: summarise(
      baseline,
      pairs.map((pair) => pair.baseline.item),
    ),
    candidate: summarise(
      candidate,
      pairs.map((pair) => pair.candidate.item),
    ),
  };
}

function compareCase({ caseId, tags, pairs }: CasePairs): CaseComparison {
  const worst = pairs.reduce((a, b) => (b.gain < a.gain ? b : a));
  return {
    caseId,
    tags,
    repeats: pairs.length,
    baseline: meanOf(pairs.map(({ baseline }) => baseline.score))!,
    candidate: meanOf(pairs.map(({ candidate }) => candidate.score))!,
    difference: meanOf(pairs.map(({ gain }) => gain))!,
    repeat: worst.baseline.item.repeat,
    baselineAnswer: answerOf(worst.baseline),
    candidateAnswer: answerOf(worst.candidate),
  };
}

const answerOf = ({ item, score }: CountedItem): ComparedAnswer => ({
  score,
  answer: item.answer,
  reasons: [
    ...(item.error === null ? [] : [`The run failed: ${item.error}`]),
    ...(item.endedBy === null ? [] : [`The run was ended by ${item.endedBy}.`]),
    ...item.scores.flatMap(({ scorer, reason, error }) => {
      const said = error ?? reason;
      return said === null ? [] : [`${scorer}: ${said}`];
    }),
  ],
});

function compareTag(tag: string, all: CaseComparison[], bootstrap: Bootstrap): TagComparison {
  const own = all.filter(({ tags }) => tags.includes(tag));
  const difference = meanWithInterval(
    own.map((each) => each.difference),
    bootstrap,
  );
  return { tag, verdict: verdictOf(difference), cases: own.length, difference, ...countsOf(own) };
}

const tagsOf = (cases: CaseComparison[]): string[] => [...new Set(cases.flatMap(({ tags }) => tags))].sort();

const countsOf = (cases: CaseComparison[]): { better: number; worse: number; same: number } => {
  const better = cases.filter(({ difference }) => difference > epsilon).length;
  const worse = cases.filter(({ difference }) => difference < -epsilon).length;
  return { better, worse, same: cases.length - better - worse };
};
