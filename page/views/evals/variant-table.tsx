import type { ComponentChildren } from 'preact';
import { duration, number, price } from '../../parts/format.ts';
import { href } from '../../state/route.ts';
import { growthOf, timesText } from './growth.ts';
import type { Report, VariantResult } from './report.ts';
import { leftOut, scoreText } from './words.ts';

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
