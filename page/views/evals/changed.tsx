import { get, v1 } from '../../api/client.ts';
import type { Eval, EvalItem, EvalItemList, Json, JsonObject, RunSnapshot } from '../../api/types.ts';
import { Empty, Failure, Loading } from '../../parts/basics.tsx';
import { Changes, VersionDiff, type FieldChange } from '../../parts/version-diff.tsx';
import { useLoaded } from '../../state/use-loaded.ts';
import type { Comparison } from './report.ts';

interface ChangedProps {
  found: Eval;
  comparison: Comparison;
}

/** The versions that gave the answers to one case; undefined where a run is gone, or was handed to another agent. */
interface Answered {
  agents: (string | undefined)[];
  versions: (string | null | undefined)[];
}

const mostItems = 400;

/** What the candidate changed: the fields of the variant, and those in which the versions of the agent differ. */
export function Changed({ found, comparison }: ChangedProps) {
  const { baseline, candidate, by_case: cases } = comparison;
  const caseId = cases[0]?.case_id;
  const loaded = useLoaded<Answered | null>(
    async (signal) => {
      if (caseId === undefined) return null;
      const query = { case_id: caseId, limit: mostItems };
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
