import { fewestCases } from './interval.ts';
import type { Comparison, Difference, EvalReport, VariantSummary } from './report.ts';

/** With this many comparisons, one shows a difference by chance more often than one eval in ten. */
const many = 3;

/** The report in one sentence for each comparison, and one for each thing that makes it less than it seems. */
export function sentencesOf(
  report: EvalReport,
  name: (text: string) => string,
): { verdicts: string[]; notes: string[] } {
  const { comparisons, variants } = report;
  const verdicts =
    comparisons.length > 0
      ? comparisons.map((each) => verdictSentence(each, name))
      : [aloneSentence(variants[0], name)];
  const notes = variants.flatMap((each) => notesOn(each, name));
  if (comparisons.length >= many)
    notes.push(
      `${comparisons.length} variants are compared with the baseline, and each comparison is wrong in about 5 % of evals: run the best one again before you rely on it.`,
    );
  for (const { candidate, unpaired } of comparisons)
    if (unpaired > 0)
      notes.push(
        `${count(unpaired, 'item')} of ${name(candidate)} or the baseline had no partner and did not enter their comparison.`,
      );
  return { verdicts, notes };
}

function verdictSentence(comparison: Comparison, name: (text: string) => string): string {
  const { candidate: id, baseline: baselineId, verdict, difference, cases } = comparison;
  const [candidate, baseline] = [name(id), name(baselineId)];
  if (cases === 0) return `${candidate} and ${baseline} have no case in common that counts.`;
  const size =
    comparison.same === cases && cases > 1
      ? `each of the ${cases} cases scored the same`
      : `the score differs by ${intervalText(difference)} over ${count(cases, 'case')}`;
  switch (verdict) {
    case 'better':
    case 'worse':
      return `${candidate} is ${verdict} than ${baseline}: ${size}.`;
    case 'no_difference':
      return `No difference between ${candidate} and ${baseline} is shown: ${size}.`;
    case 'too_few_cases':
      return `Too few cases to compare ${candidate} with ${baseline}: ${size}, and a verdict needs ${fewestCases} cases.`;
  }
}

const aloneSentence = (variant: VariantSummary | undefined, name: (text: string) => string): string =>
  variant === undefined
    ? 'The eval has no items.'
    : variant.scored === 0
      ? `No item of ${name(variant.variant)} counts.`
      : `${name(variant.variant)} passes ${variant.passed} of ${count(variant.scored, 'item')}, with a mean score of ${variant.score!.toFixed(3)}.`;

function notesOn(variant: VariantSummary, name: (text: string) => string): string[] {
  const left = [
    variant.pending > 0 && `${variant.pending} not ended`,
    variant.skipped > 0 && `${variant.skipped} skipped`,
    variant.unscored > 0 && `${variant.unscored} without a score`,
    variant.erased > 0 && `${variant.erased} erased`,
  ].filter((each) => each !== false);
  const broken = variant.scorers.filter(({ errors }) => errors > 0);
  return [
    ...(left.length > 0 ? [`Of ${name(variant.variant)}, these items are left out: ${left.join(', ')}.`] : []),
    ...broken.map(
      ({ scorer, errors }) =>
        `The scorer ${name(scorer)} failed on ${count(errors, 'item')} of ${name(variant.variant)}.`,
    ),
  ];
}

const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;

/** `-0.120 (95 % interval -0.180 to -0.060)`. An interval of no width would look like certainty, so it is not shown. */
export function intervalText({ mean, low, high }: Difference): string {
  if (low === null || high === null) return signed(mean);
  return high - low < 1e-9
    ? `${signed(mean)} in every case`
    : `${signed(mean)} (95 % interval ${signed(low)} to ${signed(high)})`;
}

export function signed(value: number | null): string {
  if (value === null) return '–';
  const text = value.toFixed(3);
  if (Number(text) === 0) return '0.000';
  return value > 0 ? `+${text}` : text;
}
