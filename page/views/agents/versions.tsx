import { useState } from 'preact/hooks';
import { get, v1 } from '../../api/client.ts';
import type { AgentVersion, AgentVersionList } from '../../api/types.ts';
import { Empty, Failure, Loading, Time } from '../../parts/basics.tsx';
import { amount, duration, price } from '../../parts/format.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { VersionDiff } from '../../parts/version-diff.tsx';

const hours = 168;

/** The versions of an agent that workers have started with, and what two of them differ in. */
export function Versions({ agent, labels }: { agent: string; labels: string[] }) {
  const loaded = useLoaded<AgentVersionList>(
    (signal) => get(v1('agents', agent, 'versions'), { hours: String(hours) }, signal),
    [agent],
  );
  const versions = loaded.data?.data;
  return (
    <>
      <Failure error={loaded.error} />
      {!versions && !loaded.error && <Loading />}
      {versions?.length === 0 && <Empty>No worker has started with it.</Empty>}
      {versions && versions.length > 0 && <Table agent={agent} versions={versions} />}
      {versions && versions.length > 1 && <Compare agent={agent} versions={inOrderOfUse(versions, labels)} />}
    </>
  );
}

const times = ['First seen', 'Last start'];
const columns = ['Runs', 'Failed', 'Mean time', 'Tokens', 'Cost'];

const Table = ({ agent, versions }: { agent: string; versions: AgentVersion[] }) => (
  <table class="list" aria-label={`Versions of ${agent}, with their runs of the last week`}>
    <thead>
      <tr>
        <th scope="col">Version</th>
        {columns.map((title) => (
          <th key={title} scope="col" class="num">
            {title}
          </th>
        ))}
        {times.map((title) => (
          <th key={title} scope="col" class="num">
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {versions.map((one) => (
        <tr key={one.id}>
          <th scope="row" class="mono" title={one.id}>
            {nameOf(one)}
          </th>
          {[
            amount(one.runs),
            amount(one.failed),
            one.mean_duration_ms === null ? '–' : duration(one.mean_duration_ms),
            amount(one.input_tokens + one.output_tokens),
            price(one),
          ].map((value, at) => (
            <td key={columns[at]} data-label={columns[at]} class="num">
              {value}
            </td>
          ))}
          <td data-label="First seen" class="num">
            <Time at={one.first_at} />
          </td>
          <td data-label="Last start" class="num">
            <Time at={one.last_at} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const nameOf = ({ label, id }: AgentVersion): string =>
  label === null ? id.slice(0, 10) : `${label} (${id.slice(2, 8)})`;

/** The oldest first, by their first start; those that started together as this server lists them. */
function inOrderOfUse(versions: AgentVersion[], labels: string[]): AgentVersion[] {
  const place = ({ label }: AgentVersion) => labels.indexOf(label ?? '');
  return [...versions].sort((a, b) => Date.parse(a.first_at) - Date.parse(b.first_at) || place(a) - place(b));
}

/** Chooses two versions, by default the newest and the one before, and shows what they differ in: the older one is `From`. */
function Compare({ agent, versions }: { agent: string; versions: AgentVersion[] }) {
  const ids = versions.map(({ id }) => id);
  const [pair, setPair] = useState(ids.slice(-2));
  const [from, to] = [...pair].sort((a, b) => ids.indexOf(a) - ids.indexOf(b)) as [string, string];
  const [isOpen, setOpen] = useState(false);
  const choice = (title: string, value: string, set: (id: string) => void) => (
    <label class="inline">
      <span>{title}</span>
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {versions.map((one) => (
          <option key={one.id} value={one.id}>
            {nameOf(one)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Compare two versions of {agent}</summary>
      <div class="actions">
        {choice('From', from, (id) => setPair([id, to]))}
        {choice('to', to, (id) => setPair([from, id]))}
      </div>
      {isOpen && <VersionDiff key={`${from} ${to}`} agent={agent} from={from} to={to} />}
    </details>
  );
}
