import { setQuery } from '../../state/route.ts';
import type { ComparedPart, Comparison } from './report.ts';
import type { Parts } from './use-parts.ts';
import { count, signed } from './words.ts';

/** Where the candidate got worse: by tag, and by part of the dataset. */
export function Breakdown({ comparison, parts }: { comparison: Comparison; parts: Parts }) {
  const byPart = partsOf(comparison, parts);
  const { by_tag: byTag } = comparison;
  if (byTag.length === 0 && byPart.length === 0) return null;
  return (
    <section aria-labelledby="where">
      <h2 id="where">Where</h2>
      <div class="answers">
        {byTag.length > 0 && <By name="tag" rows={byTag} />}
        {byPart.length > 0 && <By name="part" rows={byPart} />}
      </div>
    </section>
  );
}

/** Those that differ, and how many do not. */
function By({ name, rows }: { name: 'tag' | 'part'; rows: ComparedPart[] }) {
  const differ = rows.filter(({ difference, worse }) => worse > 0 || Math.abs(difference.mean ?? 0) >= epsilon);
  const same = rows.length - differ.length;
  return (
    <div>
      {differ.length > 0 && <Table name={name} rows={differ} />}
      {same > 0 && <p class="muted">{count(same, name)} without a difference.</p>}
    </div>
  );
}

const Table = ({ name, rows }: { name: 'tag' | 'part'; rows: ComparedPart[] }) => (
  <table class="list" aria-label={`By ${name}`}>
    <thead>
      <tr>
        <th scope="col">{name === 'tag' ? 'Tag' : 'Part'}</th>
        <th scope="col" class="num">
          Difference
        </th>
        <th scope="col" class="num">
          Worse
        </th>
      </tr>
    </thead>
    <tbody>
      {[...rows].sort(worstFirst).map(({ tag, difference: { mean }, worse, cases }) => (
        <tr key={tag} data-part={tag}>
          <th scope="row">
            <button
              type="button"
              class="link"
              aria-label={`Only cases of ${tag}`}
              onClick={() => setQuery({ tag: undefined, part: undefined, [name]: tag })}
            >
              {tag}
            </button>
          </th>
          <td data-label="Difference" class="num">
            {mean === null || Math.abs(mean) < epsilon ? (
              signed(mean)
            ) : (
              <span class={`status ${mean < 0 ? 'bad' : 'good'}`}>{signed(mean)}</span>
            )}
          </td>
          <td data-label="Worse" class="num">
            {worse} of {cases}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

/** Sums of equal scores in another order differ in their last digits. */
const epsilon = 1e-9;

const worstFirst = (a: ComparedPart, b: ComparedPart): number => (a.difference.mean ?? 0) - (b.difference.mean ?? 0);

/** Mean differences by part; the report has them by tag only. */
function partsOf({ by_case: cases }: Comparison, parts: Parts): ComparedPart[] {
  const found = new Map<string, number[]>();
  for (const { case_id: id, difference } of cases) {
    const part = parts.get(id);
    if (part !== undefined) found.set(part, [...(found.get(part) ?? []), difference]);
  }
  return [...found].map(([tag, of]) => ({
    ...{ tag, cases: of.length, worse: of.filter((one) => one < -epsilon).length },
    difference: { mean: of.reduce((sum, one) => sum + one, 0) / of.length },
  }));
}
