import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { Empty, Tag } from '../../parts/basics.tsx';
import { clip } from '../../parts/format.ts';
import { href, route } from '../../state/route.ts';
import { CaseFilters, caseFilter } from './case-filters.tsx';
import type { ComparedAnswer, ComparedCase, Comparison } from './report.ts';
import type { Parts } from './use-parts.ts';
import { scoreText, signed } from './words.ts';

const shownRows = 200;
const previewChars = 300;

/** The cases of one comparison with both answers, those that lost most first. The filters are part of the address. */
export function Pairs({ id, comparison, parts }: { id: string; comparison: Comparison; parts: Parts }) {
  const all = useSignal(false);
  const cases = comparison.by_case;
  const found = cases.filter(caseFilter(route.value.query, parts, (one) => one.difference));
  const shown = all.value ? found : found.slice(0, shownRows);
  return (
    <section aria-labelledby="cases">
      <h2 id="cases">Cases ({found.length === cases.length ? cases.length : `${found.length} of ${cases.length}`})</h2>
      <CaseFilters tags={cases.flatMap(({ tags }) => tags)} parts={[...parts.values()]} />
      {shown.length === 0 && <Empty>No cases match.</Empty>}
      {shown.length > 0 && <Table id={id} comparison={comparison} rows={shown} parts={parts} />}
      {shown.length < found.length && (
        <button type="button" class="more" onClick={() => (all.value = true)}>
          Show all {found.length}
        </button>
      )}
    </section>
  );
}

interface TableProps {
  id: string;
  comparison: Comparison;
  rows: ComparedCase[];
  parts: Parts;
}

const Table = ({ id, comparison: { baseline, candidate }, rows, parts }: TableProps) => (
  <table class="list" aria-labelledby="cases">
    <thead>
      <tr>
        <th scope="col">Case</th>
        <th scope="col">{baseline}</th>
        <th scope="col">{candidate}</th>
        <th scope="col" class="num">
          Difference
        </th>
      </tr>
    </thead>
    <tbody>
      {rows.map((one) => (
        <tr key={one.case_id} data-case={one.case_id}>
          <th scope="row">
            {one.tags.map((tag) => (
              <Fragment key={tag}>
                <Tag>{tag}</Tag>{' '}
              </Fragment>
            ))}
            {parts.has(one.case_id) && <Tag>{parts.get(one.case_id)}</Tag>}
            <a href={href('evals', id, one.case_id, { variant: candidate })} class="row-id">
              {one.case_id}
            </a>
          </th>
          <td data-label={baseline}>
            <Answer score={one.baseline} given={one.baseline_answer} />
          </td>
          <td data-label={candidate}>
            <Answer score={one.candidate} given={one.candidate_answer} />
          </td>
          <td data-label="Difference" class="num">
            {one.difference === 0 ? (
              signed(0)
            ) : (
              <span class={`status ${one.difference < 0 ? 'bad' : 'good'}`}>{signed(one.difference)}</span>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Answer = ({ score, given }: { score: number; given: ComparedAnswer }) => (
  <>
    <span class="num">{scoreText(score)}</span> {clip(given.answer ?? 'No answer', previewChars)}
    {given.reasons.map((reason) => (
      <div key={reason} class="muted">
        {clip(reason, previewChars)}
      </div>
    ))}
  </>
);
