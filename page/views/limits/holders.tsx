import { get, v1 } from '../../api/client.ts';
import type { LimitHolder, UsedLimit } from '../../api/types.ts';
import { Empty, Failure, Loading, Status, Time } from '../../parts/basics.tsx';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { shown } from './words.ts';

const most = 50;

/** The runs that hold a slot of a limit, or have reserved some of it for a model call. Read while they are shown. */
export function Holders({ limit, everyMs }: { limit: UsedLimit; everyMs: number }) {
  const loaded = useLoaded<{ data: LimitHolder[]; next_after: string | null }>(
    (signal) => get(v1('limits', limit.name, 'holders'), { limit: most }, signal),
    [limit.name],
    { everyMs },
  );
  // a tenant may have a limit of the same name
  const runs = loaded.data?.data.filter(({ tenant }) => tenant === limit.tenant);
  return (
    <>
      <Failure error={loaded.error} />
      {!runs && !loaded.error && <Loading />}
      {runs?.length === 0 && <Empty>No run holds anything of it.</Empty>}
      {runs && runs.length > 0 && (
        <table class="list" aria-label={`Runs that hold ${limit.name}`}>
          <thead>
            <tr>
              {['Run', 'Agent', 'For', 'Holds', 'Status', 'Worker', 'Since'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <tr key={`${run.thread_id} ${run.run_id} ${run.key}`}>
                <th scope="row">
                  <a class="mono" href={href('threads', run.thread_id, 'runs', run.run_id)}>
                    {run.run_id}
                  </a>
                </th>
                <td data-label="agent">{run.agent}</td>
                <td data-label="for">{run.key || 'all together'}</td>
                <td data-label="holds">{shown(limit, run.amount)}</td>
                <td data-label="status">
                  <Status status={run.status} />
                </td>
                <td data-label="worker" class="mono">
                  {run.worker_id ?? 'none'}
                </td>
                <td data-label="since">
                  <Time at={run.since} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {loaded.data?.next_after && <p class="muted">The {most} that have held it longest.</p>}
    </>
  );
}
