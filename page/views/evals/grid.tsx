import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { Empty, Tag } from '../../parts/basics.tsx';
import { clip } from '../../parts/format.ts';
import { href, route } from '../../state/route.ts';
import { CaseFilters, caseFilter } from './case-filters.tsx';
import { gridRows, type ComparedCase, type Comparison, type GridRow } from './report.ts';
import type { Parts } from './use-parts.ts';
import { scoreText, signed } from './words.ts';

/** A grid of thousands of rows would take seconds to draw. */
const shownRows = 200;
const previewChars = 200;
/** With more, there is no space for differences beside the scores. */
const roomyComparisons = 3;

const noParts: Parts = new Map();

/** Cases × variants: those that lost most come first. The filters are part of the address. */
export function Grid({ id, comparisons }: { id: string; comparisons: Comparison[] }) {
  const all = useSignal(false);
  const rows = gridRows(comparisons);
  const found = rows.filter(caseFilter(route.value.query, noParts, ({ worst }) => worst.difference));
  const shown = all.value ? found : found.slice(0, shownRows);
  return (
    <section aria-labelledby="cases">
      <h2 id="cases">Cases ({found.length === rows.length ? rows.length : `${found.length} of ${rows.length}`})</h2>
      <CaseFilters tags={rows.flatMap(({ tags }) => tags)} />
      {shown.length === 0 ? <Empty>No cases match.</Empty> : <Table id={id} comparisons={comparisons} rows={shown} />}
      {shown.length < found.length && (
        <button type="button" class="more" onClick={() => (all.value = true)}>
          Show all {found.length}
        </button>
      )}
    </section>
  );
}

const Table = ({ id, comparisons, rows }: { id: string; comparisons: Comparison[]; rows: GridRow[] }) => (
  <div class="wide">
    <table class="list" aria-labelledby="cases">
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
        {rows.map(({ caseId, tags, compared, worst }) => (
          <tr key={caseId} data-case={caseId}>
            <th scope="row">
              <a href={href('evals', id, caseId)} class="row-link">
                <span class="preview">{clip(worst.candidate_answer.answer ?? 'No answer', previewChars)}</span>
                <span class="id">{caseId}</span>
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
                {one ? <Cell one={one} roomy={comparisons.length <= roomyComparisons} /> : '–'}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

function Cell({ one: { candidate, difference }, roomy }: { one: ComparedCase; roomy: boolean }) {
  if (difference === 0) return <>{scoreText(candidate)}</>;
  const tone = `status ${difference < 0 ? 'bad' : 'good'}`;
  if (!roomy)
    return (
      <span class={tone} title={signed(difference)}>
        {scoreText(candidate)}
      </span>
    );
  return (
    <>
      {scoreText(candidate)} <span class={tone}>{signed(difference)}</span>
    </>
  );
}
