import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { Empty, Tag } from '../../parts/basics.tsx';
import { FilterForm } from '../../parts/filters.tsx';
import { clip } from '../../parts/format.ts';
import { href, route, setQuery } from '../../state/route.ts';
import { gridRows, type Comparison, type GridRow } from './report.ts';
import { scoreText, signed } from './words.ts';

/** A grid of thousands of rows would take seconds to draw. */
const shownRows = 200;
const previewChars = 200;

/** Cases × variants: those that lost most come first. The filters are part of the address. */
export function Grid({ id, comparisons }: { id: string; comparisons: Comparison[] }) {
  const all = useSignal(false);
  const { query } = route.value;
  const tag = query.get('tag');
  const onlyWorse = query.get('worse') !== null;
  const rows = gridRows(comparisons);
  const found = rows.filter(({ tags, worst }) => (!onlyWorse || worst.difference < 0) && (!tag || tags.includes(tag)));
  const shown = all.value ? found : found.slice(0, shownRows);
  return (
    <section aria-labelledby="cases">
      <h2 id="cases">Cases ({found.length === rows.length ? rows.length : `${found.length} of ${rows.length}`})</h2>
      <FilterForm names={['tag', 'worse']}>
        <label>
          <span>Tag</span>
          <select value={tag ?? ''} onChange={(event) => setQuery({ tag: event.currentTarget.value || undefined })}>
            <option value="">any</option>
            {[...new Set(rows.flatMap(({ tags }) => tags))].sort().map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <button
          type="button"
          aria-pressed={onlyWorse}
          onClick={() => setQuery({ worse: onlyWorse ? undefined : 'true' })}
        >
          Only what got worse
        </button>
      </FilterForm>
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
  <table class="list" aria-labelledby="cases">
    <thead>
      <tr>
        <th scope="col">Case</th>
        <th scope="col">Tags</th>
        {[comparisons[0]!.baseline, ...comparisons.map(({ candidate }) => candidate)].map((variant) => (
          <th key={variant} scope="col" class="num">
            {variant}
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
              {one ? scoreText(one.candidate) : '–'}
              {one && one.difference !== 0 && (
                <>
                  {' '}
                  <span class={`status ${one.difference < 0 ? 'bad' : 'good'}`}>{signed(one.difference)}</span>
                </>
              )}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);
