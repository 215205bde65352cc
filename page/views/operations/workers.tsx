import { Empty, Time } from '../../parts/basics.tsx';
import { noneAlive, useWorkers } from '../../state/use-workers.ts';

/** Live workers, and those that stopped or died in the last hour. */
export function Workers({ alive }: { alive: number }) {
  const workers = useWorkers();
  return (
    <section aria-labelledby="workers">
      <h2 id="workers">Workers</h2>
      {alive === 0 && <Empty>{noneAlive}</Empty>}
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Worker</th>
            <th scope="col">State</th>
            <th scope="col" class="num">
              Runs
            </th>
            <th scope="col" class="num">
              Last seen
            </th>
          </tr>
        </thead>
        <tbody>
          {workers?.map((worker) => (
            <tr key={worker.id}>
              <th scope="row" class="mono" title={worker.host}>
                {worker.id}
              </th>
              <td>{worker.state}</td>
              <td class="num">{worker.runs_held}</td>
              <td class="num">
                <Time at={worker.heartbeat_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
