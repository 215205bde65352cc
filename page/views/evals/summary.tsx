import { Fragment, type ComponentChildren } from 'preact';
import { href } from '../../state/route.ts';
import { growthOf, lostIn, type Comparison, type Report, type Cases, timesText, type VariantResult } from './report.ts';
import { scoreText } from '../answers/scores.ts';
import { aloneSentence, badgesOf, count, verdictOf, leftOut } from './words.ts';
import { duration, number, price } from '../../parts/format.ts';

/** With this many, one shows a difference by chance in more than one eval in ten. */
const manyComparisons = 3;
/** Tags and parts that the verdict names, those that lost most. */
const named = 3;

interface SummaryProps {
  id: string;
  report: Report;
  cases: Cases;
}

/** The verdict of each comparison, then the numbers of each variant. */
export const Summary = ({ id, report, cases }: SummaryProps) => (
  <section aria-labelledby="verdict">
    <h2 id="verdict">Verdict</h2>
    {report.comparisons.map((one) => (
      <p key={one.candidate} class="prose">
        <VerdictLine report={report} comparison={one} cases={cases} />{' '}
        <a href={href('evals', id, 'variants', one.candidate)}>
          Compare {one.candidate} with {one.baseline}
        </a>
      </p>
    ))}
    {report.comparisons.length >= manyComparisons && (
      <p class="muted">
        Each of the {report.comparisons.length} comparisons is wrong in about 5 % of evals: run the best variant again
        before you rely on it.
      </p>
    )}
    {report.comparisons.length === 0 && report.variants[0] && <p>{aloneSentence(report.variants[0])}</p>}
    <h2 id="variants">Variants</h2>
    <VariantTable id={id} report={report} variants={report.variants} />
  </section>
);

interface VerdictProps {
  report: Report;
  comparison: Comparison;
  cases: Cases;
}

/** How a variant compares with the baseline: score, cost and time, then where it lost most. */
export function VerdictLine({ report, comparison: one, cases }: VerdictProps) {
  const growth = growthOf(
    report,
    report.variants.find(({ variant }) => variant === one.candidate)!,
  );
  const lost = lostIn(one, cases);
  const more = lost.length - named;
  return (
    <>
      {badgesOf(one, growth).map(([tone, text]) => (
        <Fragment key={text}>
          <span class={`status ${tone}`}>{text}</span>{' '}
        </Fragment>
      ))}
      {verdictOf(one)}{' '}
      <span class="muted">
        {one.worse} worse, {one.same} the same, {one.better} better
        {one.unpaired > 0 && `; ${count(one.unpaired, 'item')} without a partner left out`}.
        {lost.length > 0 &&
          ` Worse in ${lost
            .slice(0, named)
            .map(({ tag, worse, cases }) => `${tag} (${worse} of ${cases})`)
            .join(', ')}${more > 0 ? ` and ${more} more` : ''}.`}
      </span>
    </>
  );
}

const columns = ['Score', 'Passed', 'Failed runs', 'Cost', 'p50', 'p95'];

interface VariantTableProps {
  id: string;
  report: Report;
  /** Those to show. */
  variants: VariantResult[];
}

/** The numbers of variants; what the baseline has much less of is marked. */
export const VariantTable = ({ id, report, variants }: VariantTableProps) => (
  <table class="list" aria-label="Variants">
    <thead>
      <tr>
        <th scope="col">Variant</th>
        {columns.map((title) => (
          <th key={title} scope="col" class="num">
            {title}
          </th>
        ))}
        <th scope="col">Left out</th>
        <th scope="col">Scorers</th>
      </tr>
    </thead>
    <tbody>
      {variants.map((one) => (
        <tr key={one.variant} data-variant={one.variant}>
          <th scope="row">
            {report.baseline === null || one.variant === report.baseline ? (
              one.variant
            ) : (
              <a href={href('evals', id, 'variants', one.variant)}>{one.variant}</a>
            )}
          </th>
          {numbersOf(report, one).map((value, at) => (
            <td key={columns[at]} data-label={columns[at]} class="num">
              {value}
            </td>
          ))}
          <td data-label="Left out">{leftOut(one)}</td>
          <td data-label="Scorers">{scorersOf(one)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

function numbersOf(report: Report, one: VariantResult): ComponentChildren[] {
  const growth = growthOf(report, one);
  const time = (ms: number | null) => (ms === null ? '–' : duration(ms));
  return [
    scoreText(one.score),
    `${number(one.passed)} of ${number(one.scored)}`,
    growth.fails ? <span class="status bad">{number(one.failures)}</span> : number(one.failures),
    grown(
      price({ cost: one.cost_micros === null ? null : one.cost_micros / 1e6, unpriced_tokens: one.unpriced }),
      growth.cost,
    ),
    grown(time(one.p50_ms), growth.p50),
    grown(time(one.p95_ms), growth.p95),
  ];
}

const grown = (text: string, by: number | undefined) =>
  by === undefined ? (
    text
  ) : (
    <>
      {text} <span class="status bad">{timesText(by)}</span>
    </>
  );

const scorersOf = ({ scorers }: VariantResult): string =>
  scorers
    .map(({ scorer, score, errors }) => `${scorer} ${scoreText(score)}${errors > 0 ? ` (failed ${errors} times)` : ''}`)
    .join(', ') || '–';
