import { duration, number, price } from '../../parts/format.ts';
import type { Report, VariantResult } from './report.ts';
import { aloneSentence, count, leftOut, scoreText, tones, verdictOf } from './words.ts';

/** With this many, one shows a difference by chance in more than one eval in ten. */
const manyComparisons = 3;

/** The verdict of each comparison, then the numbers of each variant. */
export const Summary = ({ report: { comparisons, variants } }: { report: Report }) => (
  <section aria-labelledby="verdict">
    <h2 id="verdict">Verdict</h2>
    {comparisons.map((one) => (
      <p key={one.candidate}>
        <span class={`status ${tones[one.verdict]}`}>{one.verdict.replaceAll('_', ' ')}</span> {verdictOf(one)}{' '}
        <span class="muted">
          {one.worse} worse, {one.same} the same, {one.better} better
          {one.unpaired > 0 && `; ${count(one.unpaired, 'item')} without a partner left out`}
        </span>
      </p>
    ))}
    {comparisons.length >= manyComparisons && (
      <p class="muted">
        Each of the {comparisons.length} comparisons is wrong in about 5 % of evals: run the best variant again before
        you rely on it.
      </p>
    )}
    {comparisons.length === 0 && variants[0] && <p>{aloneSentence(variants[0])}</p>}
    <h2 id="variants">Variants</h2>
    <table class="list" aria-labelledby="variants">
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
          <tr key={one.variant}>
            <th scope="row">{one.variant}</th>
            {numbersOf(one).map((value, at) => (
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
  </section>
);

const columns = ['Score', 'Passed', 'Failed runs', 'Cost', 'p50', 'p95'];

const numbersOf = (one: VariantResult): string[] => [
  scoreText(one.score),
  `${number(one.passed)} of ${number(one.scored)}`,
  number(one.failures),
  price({ cost: one.cost_micros === null ? null : one.cost_micros / 1e6, unpriced_tokens: one.unpriced }),
  ...[one.p50_ms, one.p95_ms].map((ms) => (ms === null ? '–' : duration(ms))),
];

const scorersOf = ({ scorers }: VariantResult): string =>
  scorers
    .map(({ scorer, score, errors }) => `${scorer} ${scoreText(score)}${errors > 0 ? ` (failed ${errors} times)` : ''}`)
    .join(', ') || '–';
