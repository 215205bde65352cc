import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { Empty, Tag } from '../../parts/basics.tsx';
import { clip } from '../../parts/format.ts';
import { href, route } from '../../state/route.ts';
import { CaseFilters, passes, CaseName } from './grid.tsx';
import type { ComparedAnswer, ComparedCase, Comparison, Cases } from './report.ts';
import { scoreText } from '../answers/scores.ts';
import { signed } from './words.ts';

const shownRows = 200;
const previewChars = 300;

interface PairsProps {
  id: string;
  comparison: Comparison;
  cases: Cases;
}

/** The cases of one comparison with both answers, those that lost most first. The filters are part of the address. */
export function Pairs({ id, comparison, cases: kept }: PairsProps) {
  const all = useSignal(false);
  const cases = comparison.by_case;
  const found = cases.filter((one) => passes(route.value.query, kept, { ...one, caseId: one.case_id }));
  const shown = all.value ? found : found.slice(0, shownRows);
  return (
    <section aria-labelledby="cases">
      <h2 id="cases">Cases ({found.length === cases.length ? cases.length : `${found.length} of ${cases.length}`})</h2>
      <CaseFilters tags={cases.flatMap(({ tags }) => tags)} cases={kept} />
      {shown.length === 0 && <Empty>No cases match.</Empty>}
      {shown.length > 0 && <Table id={id} comparison={comparison} cases={kept} rows={shown} />}
      {shown.length < found.length && (
        <button type="button" class="more" onClick={() => (all.value = true)}>
          Show all {found.length}
        </button>
      )}
    </section>
  );
}

type TableProps = PairsProps & { rows: ComparedCase[] };

const Table = ({ id, comparison: { baseline, candidate }, cases, rows }: TableProps) => (
  <table class="list long" aria-labelledby="cases">
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
            <a href={href('evals', id, one.case_id, { variant: candidate })} class="row-link">
              <CaseName id={one.case_id} cases={cases} />
            </a>
            {one.tags.map((tag) => (
              <Fragment key={tag}>
                <Tag>{tag}</Tag>{' '}
              </Fragment>
            ))}
            {cases.get(one.case_id)?.split && <Tag>{cases.get(one.case_id)!.split}</Tag>}
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
