import { href } from '../../state/route.ts';
import { growthOf, timesText } from './growth.ts';
import type { Comparison, Report } from './report.ts';
import { aloneSentence, count, tones, verdictOf } from './words.ts';
import { VariantTable } from './variant-table.tsx';

/** With this many, one shows a difference by chance in more than one eval in ten. */
const manyComparisons = 3;
/** Tags that the verdict names, those that lost most. */
const namedTags = 3;

/** The verdict of each comparison, then the numbers of each variant. */
export const Summary = ({ id, report }: { id: string; report: Report }) => (
  <section aria-labelledby="verdict">
    <h2 id="verdict">Verdict</h2>
    {report.comparisons.map((one) => (
      <p key={one.candidate} class="prose">
        <VerdictLine report={report} comparison={one} />{' '}
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

/** How a variant compares with the baseline: score, then cost, then the tags that lost most. */
export function VerdictLine({ report, comparison: one }: { report: Report; comparison: Comparison }) {
  const { cost } = growthOf(
    report,
    report.variants.find(({ variant }) => variant === one.candidate)!,
  );
  const lost = one.by_tag.filter(({ worse }) => worse > 0).sort((a, b) => a.difference.mean! - b.difference.mean!);
  const more = lost.length - namedTags;
  return (
    <>
      <span class={`status ${tones[one.verdict]}`}>{one.verdict.replaceAll('_', ' ')}</span> {verdictOf(one)}{' '}
      {cost !== undefined && <span class="status bad">costs {timesText(cost)}</span>}{' '}
      <span class="muted">
        {one.worse} worse, {one.same} the same, {one.better} better
        {one.unpaired > 0 && `; ${count(one.unpaired, 'item')} without a partner left out`}.
        {lost.length > 0 &&
          ` Worse in ${lost
            .slice(0, namedTags)
            .map(({ tag, worse, cases }) => `${tag} (${worse} of ${cases})`)
            .join(', ')}${more > 0 ? ` and ${count(more, 'more tag')}` : ''}.`}
      </span>
    </>
  );
}
