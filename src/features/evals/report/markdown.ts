import type { CaseComparison, ComparedAnswer, Comparison, EvalReport, VariantSummary } from './report.ts';
import { intervalText, sentencesOf, signed } from './sentences.ts';

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
