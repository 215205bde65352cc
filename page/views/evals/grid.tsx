import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { Empty, Tag } from '../../parts/basics.tsx';
import { href, route } from '../../state/route.ts';
import { CaseFilters, passes } from './case-filters.tsx';
import { CaseName } from './case-name.tsx';
import { gridRows, type ComparedCase, type Comparison, type GridRow } from './report.ts';
import type { Cases } from './kept-cases.ts';
import { scoreText, signed } from './words.ts';

/** A grid of thousands of rows would take seconds to draw. */
const shownRows = 200;
/** With more, there is no space for differences beside the scores. */
const roomyComparisons = 3;

interface GridProps {
  id: string;
  comparisons: Comparison[];
  cases: Cases;
}

/** Cases × variants: those that lost most come first. The filters are part of the address. */
export function Grid({ id, comparisons, cases }: GridProps) {
  const all = useSignal(false);
  const rows = gridRows(comparisons);
  const found = rows.filter((row) => passes(route.value.query, cases, { ...row, difference: row.worst.difference }));
  const shown = all.value ? found : found.slice(0, shownRows);
  return (
    <section aria-labelledby="cases">
      <h2 id="cases">Cases ({found.length === rows.length ? rows.length : `${found.length} of ${rows.length}`})</h2>
      <CaseFilters tags={rows.flatMap(({ tags }) => tags)} cases={cases} />
      {shown.length === 0 && <Empty>No cases match.</Empty>}
      {shown.length > 0 && <Table id={id} comparisons={comparisons} cases={cases} rows={shown} />}
      {shown.length < found.length && (
        <button type="button" class="more" onClick={() => (all.value = true)}>
          Show all {found.length}
        </button>
      )}
    </section>
  );
}

const Table = ({ id, comparisons, cases, rows }: GridProps & { rows: GridRow[] }) => (
  <div class="wide">
    <table class="list long" aria-labelledby="cases">
      <thead>
        <tr>
          <th scope="col">Case</th>
          <th scope="col">Tags</th>
          <th scope="col" class="num">
            {comparisons[0]!.baseline}
          </th>
          {comparisons.map(({ candidate }) => (
            <th key={candidate} scope="col" class="num">
              <a href={href('evals', id, 'variants', candidate)}>{candidate}</a>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ caseId, tags, compared }) => (
          <tr key={caseId} data-case={caseId}>
            <th scope="row">
              <a href={href('evals', id, caseId)} class="row-link">
                <CaseName id={caseId} cases={cases} />
              </a>
            </th>
            <td>
              {tags.map((tag) => (
                <Fragment key={tag}>
                  <Tag>{tag}</Tag>{' '}
                </Fragment>
              ))}
            </td>
            <td data-label={comparisons[0]!.baseline} class="num">
              {scoreText(compared.find((one) => one)!.baseline)}
            </td>
            {compared.map((one, at) => (
              <td key={comparisons[at]!.candidate} data-label={comparisons[at]!.candidate} class="num">
                {one ? (
                  <Cell
                    one={one}
                    to={href('evals', id, caseId, { variant: comparisons[at]!.candidate })}
                    roomy={comparisons.length <= roomyComparisons}
                  />
                ) : (
                  '–'
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

interface CellProps {
  one: ComparedCase;
  /** The address of the case. */
  to: string;
  roomy: boolean;
}

function Cell({ one: { candidate, difference }, to, roomy }: CellProps) {
  if (difference === 0) return <>{scoreText(candidate)}</>;
  const tone = `status ${difference < 0 ? 'bad' : 'good'}`;
  if (!roomy)
    return (
      <a href={to} class={tone} title={signed(difference)}>
        {scoreText(candidate)}
      </a>
    );
  return (
    <>
      {scoreText(candidate)}{' '}
      <a href={to} class={tone}>
        {signed(difference)}
      </a>
    </>
  );
}
