import { FilterForm } from '../../parts/filters.tsx';
import { route, setQuery } from '../../state/route.ts';
import type { Cases } from './kept-cases.ts';

/** Filters of cases, which are part of the address: a tag, a part of the dataset, and only what got worse. */
export function CaseFilters({ tags, cases }: { tags: string[]; cases: Cases }) {
  const parts = [...cases.values()].flatMap(({ split }) => split ?? []);
  const { query } = route.value;
  const onlyWorse = query.get('worse') !== null;
  return (
    <FilterForm names={['tag', 'part', 'worse']}>
      <Choice title="Tag" name="tag" values={tags} />
      {parts.length > 0 && <Choice title="Part" name="part" values={parts} />}
      <button
        type="button"
        aria-pressed={onlyWorse}
        onClick={() => setQuery({ worse: onlyWorse ? undefined : 'true' })}
      >
        Only what got worse
      </button>
    </FilterForm>
  );
}

const Choice = ({ title, name, values }: { title: string; name: string; values: string[] }) => (
  <label>
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
