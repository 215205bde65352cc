import { Fragment } from 'preact';
import { href } from '../../state/route.ts';
import { growthOf } from './growth.ts';
import { lostIn, type Comparison, type Report } from './report.ts';
import type { Cases } from './kept-cases.ts';
import { aloneSentence, badgesOf, count, verdictOf } from './words.ts';
import { VariantTable } from './variant-table.tsx';

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
