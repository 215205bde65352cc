import { get } from '../../api/client.ts';
import type { Activity } from '../../api/types.ts';
import { Empty, Failure, Loading, Time } from '../../parts/basics.tsx';
import { amount, duration } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { href, route, setQuery } from '../../state/route.ts';
import { useLoaded, noneAlive, useWorkers } from '../../state/use-loaded.ts';
import { Plots } from './plots.tsx';

const refreshMs = 5_000;
const spans: [string, string][] = [
  ['1', 'last hour'],
  ['24', 'last day'],
  ['168', 'last week'],
];

/** Queue, workers, errors, tokens and cost, for operators. */
export function OperationsView() {
  const hours = route.value.query.get('hours') ?? '24';
  const loaded = useLoaded<Activity>((signal) => get('/v1/activity', { hours }, signal), [hours], {
    everyMs: refreshMs,
  });
  const now = loaded.data;
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <Heading title="Operations" />
        <div class="actions">
          <a href="/admin/queues">Jobs in Bull Board</a>
          <label class="inline">
            <span>Period</span>
            <select value={hours} onChange={(event) => setQuery({ hours: event.currentTarget.value })}>
              {spans.map(([value, title]) => (
                <option key={value} value={value}>
                  {title}
                </option>
              ))}
            </select>
          </label>
        </div>
      </div>
      <Failure error={loaded.error} />
      {!now && !loaded.error && <Loading />}
      {now && (
        <>
          <Numbers now={now} />
          <Plots now={now} hours={Number(hours)} />
          <div class="columns even">
            <Workers alive={now.fleet.alive} />
            <Errors now={now} />
            <Queues now={now} />
          </div>
        </>
      )}
    </section>
  );
}

function Numbers({ now }: { now: Activity }) {
  const jobs = now.jobs.reduce((sum, { counts }) => sum + waiting(counts), 0);
  const numbers: [string, string][] = [
    ...(['running', 'queued', 'waiting', 'suspended'] as const).map((status): [string, string] => [
      status === 'suspended' ? 'need approval' : status,
      amount(now.runs[status] ?? 0),
    ]),
    ['oldest queued', duration(now.oldest_queued_seconds * 1_000)],
    ['oldest without a limit', duration(now.oldest_ready_seconds * 1_000)],
    ['jobs waiting', amount(jobs)],
    ['busy workers', now.fleet.alive > 0 ? `${now.workers.length} of ${now.fleet.alive}` : 'no worker is alive'],
  ];
  return (
    <dl class="numbers">
      {numbers.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const Queues = ({ now: { jobs } }: { now: Activity }) => (
  <section aria-labelledby="queues">
    <h2 id="queues">Queues</h2>
    <table class="list">
      <thead>
        <tr>
          <th scope="col">Queue</th>
          {['Waiting', 'Active', 'Delayed'].map((title) => (
            <th key={title} scope="col" class="num">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {jobs.map(({ queue, counts }) => (
          <tr key={queue}>
            <th scope="row" class="mono">
              {queue}
            </th>
            <td data-label="waiting" class="num">
              {amount(waiting(counts))}
            </td>
            <td data-label="active" class="num">
              {amount(counts['active'] ?? 0)}
            </td>
            <td data-label="delayed" class="num">
              {amount(counts['delayed'] ?? 0)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

const waiting = (counts: Record<string, number>): number => (counts['waiting'] ?? 0) + (counts['prioritized'] ?? 0);

const Errors = ({ now: { errors } }: { now: Activity }) => (
  <section aria-labelledby="errors">
    <h2 id="errors">Errors</h2>
    {errors.length === 0 ? (
      <Empty>No run failed in this period.</Empty>
    ) : (
      <ul class="plain">
        {errors.map(({ type, runs, last_at: at }) => (
          <li key={type}>
            <a class="side-row" href={href('runs', { status: 'failed', error_type: type })}>
              <span class="mono">{type}</span>
              <span class="num">{amount(runs)}</span>
              <Time at={at} />
            </a>
          </li>
        ))}
      </ul>
    )}
  </section>
);

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
