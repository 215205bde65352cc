import { setQuery } from '../../state/route.ts';
import { epsilon, partsOf, type ComparedPart, type Comparison } from './report.ts';
import type { Cases } from './kept-cases.ts';
import { count, signed } from './words.ts';

/** Where the candidate got worse: by tag, and by part of the dataset. */
export function Breakdown({ comparison, cases }: { comparison: Comparison; cases: Cases }) {
  const byPart = partsOf(comparison, cases);
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
              onClick={() => {
                setQuery({ tag: undefined, part: undefined, [name]: tag });
                document.getElementById('cases')!.scrollIntoView();
              }}
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

const worstFirst = (a: ComparedPart, b: ComparedPart): number => (a.difference.mean ?? 0) - (b.difference.mean ?? 0);
