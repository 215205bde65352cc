import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { Empty, Tag } from '../../parts/basics.tsx';
import { href, route, setQuery } from '../../state/route.ts';
import { gridRows, type ComparedCase, type Comparison, type GridRow, type Cases } from './report.ts';
import { scoreText } from '../answers/scores.ts';
import { signed } from './words.ts';

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

/** Filters of cases, which are part of the address: a tag, a part of the dataset, and only what got worse. */
export function CaseFilters({ tags, cases }: { tags: string[]; cases: Cases }) {
  const parts = [...cases.values()].flatMap(({ split }) => split ?? []);
  const { query } = route.value;
  const onlyWorse = query.get('worse') !== null;
  return (
    <div class="filters" role="search">
      <Choice title="Tag" name="tag" values={tags} />
      {parts.length > 0 && <Choice title="Part" name="part" values={parts} />}
      <button
        type="button"
        aria-pressed={onlyWorse}
        onClick={() => setQuery({ worse: onlyWorse ? undefined : 'true' })}
      >
        Only what got worse
      </button>
    </div>
  );
}

const Choice = ({ title, name, values }: { title: string; name: string; values: string[] }) => (
  <label class="inline">
    <span>{title}</span>
    <select
      value={route.value.query.get(name) ?? ''}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value || undefined })}
    >
      <option value="">any</option>
      {[...new Set(values)].sort().map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  </label>
);

/** Whether a case passes the filters of the address. */
export function passes(
  query: URLSearchParams,
  cases: Cases,
  { caseId, tags, difference }: { caseId: string; tags: string[]; difference: number },
): boolean {
  const [tag, part] = [query.get('tag'), query.get('part')];
  if (query.get('worse') !== null && difference >= 0) return false;
  return (!tag || tags.includes(tag)) && (!part || cases.get(caseId)?.split === part);
}

/** A case by its question, then its id; by its id alone where the log has no question. */
export const CaseName = ({ id, cases }: { id: string; cases: Cases }) => (
  <>
    {cases.get(id)?.question && <span class="preview">{cases.get(id)!.question}</span>}
    <span class="id">{id}</span>
  </>
);
