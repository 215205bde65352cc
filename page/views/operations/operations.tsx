import { get } from '../../api/client.ts';
import type { Activity } from '../../api/types.ts';
import { Empty, Failure, Loading, Time } from '../../parts/basics.tsx';
import { amount, duration } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { route, setQuery } from '../../state/route.ts';
import { useLoaded, noneAlive, useWorkers } from '../../state/use-loaded.ts';
import { ByVersion, OverTime } from './over-time.tsx';
import { runsOf, type Asked } from './slots.ts';

const refreshMs = 5_000;
const spans: [string, string][] = [
  ['1', 'last hour'],
  ['6', 'last 6 hours'],
  ['24', 'last day'],
  ['168', 'last week'],
  ['744', 'last month'],
  ['8784', 'last year'],
];

/** Queue, workers, errors, and what the runs did over time, for operators. */
export function OperationsView() {
  const { query } = route.value;
  const hours = query.get('hours') ?? '24';
  const agent = query.get('agent') ?? undefined;
  const version = query.get('version') ?? undefined;
  const loaded = useLoaded<Activity>(
    (signal) => get('/v1/activity', { hours, agent, version }, signal),
    [hours, agent, version],
    { everyMs: refreshMs },
  );
  const now = loaded.data;
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <Heading title="Operations" />
        <div class="actions">
          <a href="/admin/queues">Jobs in Bull Board</a>
          <Choose label="Period" value={hours} options={spans} onChange={(chosen) => setQuery({ hours: chosen })} />
          <Choose
            label="Agent"
            value={agent ?? ''}
            options={[['', 'all agents'], ...agentsOf(now, agent)]}
            onChange={(chosen) => setQuery({ agent: chosen || undefined, version: undefined })}
          />
          {agent && (
            <Choose
              label="Version"
              value={version ?? ''}
              options={[['', 'all versions'], ...versionsOf(now, agent, version)]}
              onChange={(chosen) => setQuery({ version: chosen || undefined })}
            />
          )}
        </div>
      </div>
      <Failure error={loaded.error} />
      {!now && !loaded.error && <Loading />}
      {now && (
        <>
          <Numbers now={now} />
          <OverTime now={now} asked={{ agent, version }} />
          <ByVersion now={now} asked={{ agent, version }} />
          <div class="columns even">
            <Workers alive={now.fleet.alive} />
            <Errors now={now} asked={{ agent, version }} />
            <Queues now={now} />
          </div>
        </>
      )}
    </section>
  );
}

type Option = [value: string, title: string];

/** The agents with runs in the period, and the chosen one. */
const agentsOf = (now: Activity | undefined, chosen: string | undefined): Option[] =>
  [...new Set([...(now?.agents.map(({ agent }) => agent) ?? []), ...(chosen ? [chosen] : [])])]
    .toSorted()
    .map((name) => [name, name]);

function versionsOf(now: Activity | undefined, agent: string, chosen: string | undefined): Option[] {
  const labels = new Map(
    now?.deploys.filter((one) => one.agent === agent).map(({ version: id, label }) => [id, label]),
  );
  const ran = now?.agents.flatMap((row) => (row.agent === agent && row.version ? [row.version] : [])) ?? [];
  return [...new Set([...ran, ...(chosen ? [chosen] : [])])].map((id) => [id, labels.get(id) ?? id.slice(0, 8)]);
}

interface ChooseProps {
  label: string;
  value: string;
  options: Option[];
  onChange: (value: string) => void;
}

const Choose = ({ label, value, options, onChange }: ChooseProps) => (
  <label class="inline">
    <span>{label}</span>
    <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map(([of, title]) => (
        <option key={of} value={of}>
          {title}
        </option>
      ))}
    </select>
  </label>
);

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

const Errors = ({ now: { errors, since }, asked }: { now: Activity; asked: Asked }) => (
  <section aria-labelledby="errors">
    <h2 id="errors">Errors</h2>
    {errors.length === 0 ? (
      <Empty>No run failed in this period.</Empty>
    ) : (
      <ul class="plain">
        {errors.map(({ type, runs, last_at: at }) => (
          <li key={type}>
            <a class="side-row" href={runsOf(asked, since, undefined, { status: 'failed', error_type: type })}>
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
