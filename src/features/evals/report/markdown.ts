import type { CaseComparison, ComparedAnswer, Comparison, EvalReport, VariantSummary, Difference } from './report.ts';
import { fewestCases } from './pairs.ts';

/** Longer texts are cut: GitHub accepts comments of 65,536 characters. */
const maxText = 1_500;

/** A text on one line, as code: nothing in it is read as Markdown, in a table or outside. */
export function code(text: string): string {
  // in a table, a vertical bar ends a cell even inside code; outside, the backslash would show
  const line =
    text
      .replaceAll(/[\p{Cc}\s]+/gu, ' ')
      .replaceAll('|', '¦')
      .trim() || ' ';
  const marks = '`'.repeat(longestRun(line) + 1);
  const space = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${marks}${space}${line}${space}${marks}`;
}

/** A text of several lines, as a block of code. */
export function fence(text: string): string {
  const shown = text.length > maxText ? `${text.slice(0, maxText)}…` : text;
  const marks = '`'.repeat(Math.max(3, longestRun(shown) + 1));
  return `${marks}text\n${shown.replaceAll(/\r\n?/g, '\n')}\n${marks}`;
}

const table = (head: string[], rows: string[][]): string =>
  [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const longestRun = (text: string): number =>
  (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);

export interface MarkdownOptions {
  /** The cases shown with both answers, of those that got worse; from 0, default 10. */
  cases?: number;
}

/**
 * The report as Markdown for a pull request: the verdict in one sentence, the tables, and the cases that lost most with both
 * answers. Text of models and users is in code only, so it cannot mention people, load images or change the report.
 *
 * @example
 * ```ts
 * import { reportOf, toMarkdown } from 'lanefold/evals';
 *
 * console.log(toMarkdown(reportOf([]))); // The eval has no items. …
 * ```
 */
export function toMarkdown(report: EvalReport, { cases = 10 }: MarkdownOptions = {}): string {
  const { verdicts, notes } = sentencesOf(report, code);
  const blocks = [
    ...verdicts.map((verdict) => `**${verdict}**`),
    variantTable(report.variants),
    ...notes.map((note) => `> ${note}`),
    ...report.comparisons.flatMap((comparison) => comparisonBlocks(comparison, cases)),
  ];
  if (report.comparisons.length > 0)
    blocks.push(
      `<sub>Intervals: bootstrap over cases, ${report.resamples} resamples, seed ${report.seed}. An item passes if each of its scores is at least 0.5; a failed run scores 0.</sub>`,
    );
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function variantTable(variants: VariantSummary[]): string {
  const scorers = [...new Set(variants.flatMap((each) => each.scorers.map(({ scorer }) => scorer)))].sort();
  const head = [
    'variant',
    'pass rate',
    'score',
    ...scorers.map(code),
    'items',
    'failed',
    'left out',
    'diverged',
    'reused',
  ];
  const rows = variants.map((each) => [
    code(each.variant),
    each.passRate === null ? '–' : `${(each.passRate * 100).toFixed(1)} %`,
    score(each.score),
    ...scorers.map((name) => score(each.scorers.find(({ scorer }) => scorer === name)?.score ?? null)),
    ...[
      each.items,
      each.failures,
      each.skipped + each.erased + each.unscored + each.pending,
      each.diverged,
      each.reused,
    ].map(String),
    cost(each),
    `${each.estimatedTokens > 0 ? '≈ ' : ''}${each.inputTokens} / ${each.outputTokens}`,
    ms(each.p50Ms),
    ms(each.p95Ms),
  ]);
  return rows.length === 0 ? '' : table([...head, 'cost', 'tokens in / out', 'p50', 'p95'], rows);
}

function comparisonBlocks(comparison: Comparison, most: number): string[] {
  const { baseline, candidate, cases, difference, passRateDifference, better, worse, same, byTag } = comparison;
  const counts = [better, worse, same].map(String);
  const rows = [
    ['**all cases**', String(cases), intervalText(difference), ...counts],
    ...byTag.map((tag) => [
      code(tag.tag),
      String(tag.cases),
      tag.verdict === 'too_few_cases' ? `${signed(tag.difference.mean)} (too few cases)` : intervalText(tag.difference),
      ...[tag.better, tag.worse, tag.same].map(String),
    ]),
  ];
  const losses = comparison.byCase.filter((each) => each.difference < 0);
  return [
    `### ${code(candidate)} against ${code(baseline)}`,
    table(['tag', 'cases', 'difference of the score', 'better', 'worse', 'same'], rows),
    `The pass rate differs by ${intervalText(passRateDifference)}.`,
    ...losses.slice(0, most).map((each) => caseBlock(each, comparison)),
    losses.length > most ? `${losses.length - most} more cases got worse.` : '',
  ];
}

const caseBlock = (each: CaseComparison, { baseline, candidate }: Comparison): string =>
  [
    `<details><summary>Case <code>${html(each.caseId)}</code>: ${signed(each.difference)}</summary>`,
    `Answers of repeat ${each.repeat}. ${code(baseline)}, score ${score(each.baselineAnswer.score)}:`,
    fence(answerText(each.baselineAnswer)),
    `${code(candidate)}, score ${score(each.candidateAnswer.score)}:`,
    fence(answerText(each.candidateAnswer)),
    '</details>',
  ].join('\n\n');

const answerText = ({ answer, reasons }: ComparedAnswer): string =>
  [answer ?? '(no answer)', ...reasons.map((reason) => `— ${reason}`)].join('\n');

const html = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(/\s+/g, ' ');
const score = (value: number | null): string => (value === null ? '–' : value.toFixed(3));
const ms = (value: number | null): string => (value === null ? '–' : `${Math.round(value)} ms`);
const cost = ({ costMicros, unpriced }: VariantSummary): string =>
  costMicros === null ? '–' : `${unpriced > 0 ? 'at least ' : ''}$${(costMicros / 1_000_000).toFixed(4)}`;

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
