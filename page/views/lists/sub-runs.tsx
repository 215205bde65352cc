import { get, v1 } from '../../api/client.ts';
import type { RunTree } from '../../api/types.ts';
import { Failure, Status, Time } from '../../parts/basics.tsx';
import { amount, price, tokens } from '../../parts/format.ts';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';

interface UnfoldProps {
  count: number;
  open: boolean;
  onClick: () => void;
  what?: string;
}

/** Says how many runs or threads a row has below it, and unfolds them. */
export const UnfoldButton = ({ count, open, onClick, what = 'sub-run' }: UnfoldProps) => (
  <button type="button" class="link small unfold" aria-expanded={open} onClick={onClick}>
    {open ? '−' : '+'}
    {count} {what}
    {count === 1 ? '' : 's'}
  </button>
);

/** The runs that a run has started, as rows below its own. `columns` is the number of columns of the table. */
export function SubRuns({ threadId, runId, columns }: { threadId: string; runId: string; columns: number }) {
  const loaded = useLoaded<RunTree>(
    (signal) => get(v1('threads', threadId, 'runs', runId, 'tree'), {}, signal),
    [threadId, runId],
  );
  if (loaded.error)
    return (
      <tr class="sub">
        <td colSpan={columns}>
          <Failure error={loaded.error} />
        </td>
      </tr>
    );
  return (
    <>
      {below(loaded.data?.runs ?? [], runId).map((run) => (
        <tr key={run.id} class="sub">
          <th scope="row" class="row">
            <a href={href('threads', run.thread_id, 'runs', run.id)} class="row-link">
              <span class="preview">Run of {run.agent}</span>
              <span class="id">{run.id}</span>
            </a>
          </th>
          <td>
            <Status status={run.status} />
            {run.error && <span class="why">{run.error.type}</span>}
          </td>
          <td data-label="agent" class="clip">
            {run.agent}
          </td>
          <td class="num" colSpan={columns - 3}>
            {tokens(run.usage, amount)} tokens · {price(run)} · <Time at={run.created_at} />
          </td>
        </tr>
      ))}
    </>
  );
}

type TreeRun = RunTree['runs'][number];

/** The runs below a run of a tree, each after the run that has started it. */
function below(runs: TreeRun[], runId: string): TreeRun[] {
  return runs.filter(({ parent }) => parent?.id === runId).flatMap((run) => [run, ...below(runs, run.id)]);
}
