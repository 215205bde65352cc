import { get } from '../../api/client.ts';
import type { Monitor, MonitorList } from '../../api/types.ts';
import { Empty, Facts, Failure, Loading, Time } from '../../parts/basics.tsx';
import { amount, percent } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { useLoaded } from '../../state/use-loaded.ts';
import { Scores } from './scores.tsx';

const refreshMs = 10_000;

/** The monitors with what they have found, those with low scores first. */
export function MonitorsView() {
  const loaded = useLoaded<MonitorList>((signal) => get('/v1/monitors', {}, signal), [], { everyMs: refreshMs });
  const monitors = loaded.data?.data;
  const tenants = new Set(monitors?.map(({ tenant }) => tenant));
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <Heading title="Monitors" />
      </div>
      <Failure error={loaded.error} />
      {!monitors && !loaded.error && <Loading />}
      {monitors?.length === 0 && <Empty>There are no monitors. Set one with the command lanefold monitors set.</Empty>}
      {[...(monitors ?? [])].sort(lowFirst).map((monitor) => (
        <MonitorCard key={`${monitor.tenant}/${monitor.name}`} monitor={monitor} many={tenants.size > 1} />
      ))}
    </section>
  );
}

const lowFirst = (a: Monitor, b: Monitor): number => Number(b.low_since !== null) - Number(a.low_since !== null);

/** @param many there are monitors of several tenants */
function MonitorCard({ monitor, many }: { monitor: Monitor; many: boolean }) {
  const { name, tenant, agents, sample, scorers, rubric, judge, alert } = monitor;
  const id = `monitor-${tenant}-${name}`;
  return (
    <section aria-labelledby={id} class="card" data-monitor={name}>
      <h2 id={id}>{name}</h2>
      <Facts
        items={[
          ['Tenant', many ? tenant : null],
          ['Agents', agents.join(', ') || 'all'],
          ['Sample', `${percent(sample)} of the runs`],
          ['Scorers', scorers.join(', ') || null],
          ['Judge', judge && judge.agent],
          ['Rubric', rubric],
          ['Scored', <span class="num">{amount(monitor.scored)}</span>],
          ['Alert', alert ? `mean of the last ${alert.of} below ${alert.below}` : 'none'],
          ['State', alert && <State since={monitor.low_since} />],
          ['Read to', <Time at={monitor.read_to} />],
        ]}
      />
      <Scores name={name} tenant={tenant} scored={monitor.scored} />
    </section>
  );
}

const State = ({ since }: { since: string | null }) =>
  since === null ? (
    <span class="status good">not low</span>
  ) : (
    <>
      <span class="status bad">low</span> since <Time at={since} />
    </>
  );
