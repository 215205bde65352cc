import type { Eval, EvalItem, EvalItemList, Json, JsonObject, RunSnapshot } from '../../api/types.ts';
import { Pairs } from './pairs.tsx';
import { type Comparison, type Report, epsilon, partsOf, type ComparedPart, type Cases } from './report.ts';
import { VerdictLine, VariantTable } from './summary.tsx';
import { get, v1 } from '../../api/client.ts';
import { Empty, Failure, Loading } from '../../parts/basics.tsx';
import { Changes, VersionDiff, type FieldChange } from '../../parts/version-diff.tsx';
import { useLoaded } from '../../state/use-loaded.ts';
import { setQuery } from '../../state/route.ts';
import { count, signed } from './words.ts';

interface ComparisonProps {
  found: Eval;
  report: Report;
  comparison: Comparison;
  cases: Cases;
}

/** One variant and the baseline: the verdict, what changed, and where it got worse. */
export function ComparisonView({ found, report, comparison, cases }: ComparisonProps) {
  const { baseline, candidate } = comparison;
  return (
    <>
      <h2>
        {candidate} compared with {baseline}
      </h2>
      <p>
        <VerdictLine report={report} comparison={comparison} cases={cases} />
      </p>
      <Changed found={found} comparison={comparison} />
      <VariantTable
        id={found.id}
        report={report}
        variants={report.variants.filter(({ variant }) => variant === baseline || variant === candidate)}
      />
      <Breakdown comparison={comparison} cases={cases} />
      <Pairs id={found.id} comparison={comparison} cases={cases} />
    </>
  );
}

interface ChangedProps {
  found: Eval;
  comparison: Comparison;
}

/** The versions that gave the answers to one case; undefined where a run is gone, or was handed to another agent. */
interface Answered {
  agents: (string | undefined)[];
  versions: (string | null | undefined)[];
}

const maxItems = 400;

/** What the candidate changed: the fields of the variant, and those in which the versions of the agent differ. */
export function Changed({ found, comparison }: ChangedProps) {
  const { baseline, candidate, by_case: cases } = comparison;
  const caseId = cases[0]?.case_id;
  const loaded = useLoaded<Answered | null>(
    async (signal) => {
      if (caseId === undefined) return null;
      const query = { case_id: caseId, limit: maxItems };
      const { data } = await get<EvalItemList>(v1('evals', found.id, 'items'), query, signal);
      const items = [baseline, candidate].map((name) => data.find(({ variant }) => variant === name));
      const runs = await Promise.all(items.map((item) => runOf(item, signal)));
      return {
        agents: items.map((item) => item?.agent),
        versions: runs.map((run, at) => (run?.agent === items[at]?.agent ? run?.agent_version : undefined)),
      };
    },
    [found.id, candidate, caseId],
  );
  const fields = fieldsOf(found, baseline, candidate);
  return (
    <section aria-labelledby="changed">
      <h2 id="changed">What changed</h2>
      <Failure error={loaded.error} />
      {fields.length > 0 && <Changes changes={fields} />}
      {loaded.data === undefined && !loaded.error && <Loading />}
      {loaded.data && <Versions {...loaded.data} also={fields.length > 0} />}
    </section>
  );
}

function Versions({ agents: [agent, other], versions: [from, to], also }: Answered & { also: boolean }) {
  if (agent === undefined || agent !== other) return also ? null : <Empty>The agents differ.</Empty>;
  if (!from || !to) return <Empty>The versions are unknown: the runs are gone, or another agent took them over.</Empty>;
  if (from !== to) return <VersionDiff agent={agent} from={from} to={to} />;
  return also ? null : <Empty>Both have the same version of {agent}.</Empty>;
}

async function runOf(item: EvalItem | undefined, signal: AbortSignal): Promise<RunSnapshot | undefined> {
  if (!item?.thread_id || !item.run_id) return undefined;
  return get<RunSnapshot>(v1('threads', item.thread_id, 'runs', item.run_id), {}, signal);
}

/** What the variants say themselves; the version shows its fields instead. */
function fieldsOf({ spec }: Eval, baseline: string, candidate: string): FieldChange[] {
  const variants = spec['variants'] as JsonObject[];
  const [from, to] = [baseline, candidate].map((name) => variants.find((one) => one['name'] === name) ?? {});
  return ['agent', 'model', 'context_policy', 'system_prompt']
    .filter((name) => JSON.stringify(from![name]) !== JSON.stringify(to![name]))
    .map((path) => ({
      path,
      ...(from![path] === undefined ? {} : { from: from![path] as Json }),
      ...(to![path] === undefined ? {} : { to: to![path] as Json }),
    }));
}

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
