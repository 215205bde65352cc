import { get, v1 } from '../../api/client.ts';
import type { RunScore, RunScoreList } from '../../api/types.ts';
import { Empty, Failure, Loading, Time } from '../../parts/basics.tsx';
import { clip, number } from '../../parts/format.ts';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { meanOf, type Mean } from './mean.ts';

/** As many as one request returns. */
const newest = 1_000;
const worstShown = 5;
const reasonChars = 200;

type Scored = RunScore & { score: number };

/** The mean of the newest scores of a monitor, and the runs that scored worst. */
export function Scores({ name, tenant, scored }: { name: string; tenant: string; scored: number }) {
  const loaded = useLoaded<RunScoreList>(
    (signal) => get(v1('monitors', name, 'scores'), { tenant, limit: newest }, signal),
    [name, tenant, scored],
  );
  if (!loaded.data) return loaded.error ? <Failure error={loaded.error} /> : <Loading />;
  const counted = loaded.data.data.filter((one): one is Scored => one.score !== null);
  const mean = meanOf(counted.map(({ score }) => score));
  if (!mean) return <Empty>No run has a score yet.</Empty>;
  const worst = counted
    .filter(({ score }) => score < 1)
    .sort((a, b) => a.score - b.score)
    .slice(0, worstShown);
  return (
    <>
      <p>{sentence(mean, loaded.data.next_after !== null)}</p>
      {worst.length > 0 && <Worst name={name} runs={worst} />}
    </>
  );
}

function sentence({ mean, runs, interval }: Mean, hasOlder: boolean): string {
  const of = hasOlder ? `newest ${number(runs)} scores` : runs === 1 ? 'only score' : `${number(runs)} scores`;
  const range = interval && ` (95 % interval ${interval[0].toFixed(3)} to ${interval[1].toFixed(3)})`;
  return `The mean of the ${of} is ${mean.toFixed(3)}${range ?? ''}.`;
}

const Worst = ({ name, runs }: { name: string; runs: Scored[] }) => (
  <table class="list" aria-label={`Worst runs of ${name}`}>
    <thead>
      <tr>
        <th scope="col">Worst runs</th>
        <th scope="col" class="num">
          Score
        </th>
        <th scope="col">Reasons</th>
        <th scope="col">Version</th>
        <th scope="col">Ended</th>
      </tr>
    </thead>
    <tbody>
      {runs.map((one) => (
        <tr key={one.run_id}>
          <th scope="row">
            <a href={href('threads', one.thread_id, 'runs', one.run_id)}>{one.run_id}</a>
          </th>
          <td data-label="Score" class="num">
            {one.score.toFixed(2)}
          </td>
          <td data-label="Reasons">{clip(reasonsOf(one), reasonChars)}</td>
          <td data-label="Version" class="mono">
            {one.agent} {one.agent_version?.slice(2, 8)}
          </td>
          <td data-label="Ended">
            <Time at={one.ended_at} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const reasonsOf = ({ scores }: RunScore): string =>
  scores
    .filter(({ score }) => score === null || score < 1)
    .map(({ scorer, score, reason, error }) => `${scorer}: ${error ?? reason ?? score?.toFixed(2)}`)
    .join('; ') || 'The run failed.';
