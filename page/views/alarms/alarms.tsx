import { get, v1 } from '../../api/client.ts';
import type { Alarm, AlarmCount, AlarmCountList, AlarmList } from '../../api/types.ts';
import { Empty, Facts, Failure, Loading, Tag, Time } from '../../parts/basics.tsx';
import { fullTime, number, percent } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { AlarmActButton, EditAlarmButton, NewAlarmButton, type OnChange } from './alarm-dialogs.tsx';

const refreshMs = 10_000;

/** The alarms with their counts of the last day, those that are raised first. */
export function AlarmsView() {
  const loaded = useLoaded<AlarmList>((signal) => get('/v1/alarms', {}, signal), [], { everyMs: refreshMs });
  const alarms = loaded.data?.data;
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <Heading title="Alarms" />
        <div class="actions">
          <NewAlarmButton onChange={loaded.reload} />
        </div>
      </div>
      <Failure error={loaded.error} />
      {!alarms && !loaded.error && <Loading />}
      {alarms?.length === 0 && (
        <Empty>There are no alarms. Set one here, or filter the runs and make an alarm of the filter.</Empty>
      )}
      {[...(alarms ?? [])].sort(raisedFirst).map((alarm) => (
        <AlarmCard key={`${alarm.tenant}/${alarm.name}`} alarm={alarm} onChange={loaded.reload} />
      ))}
    </section>
  );
}

const raisedFirst = (a: Alarm, b: Alarm): number => Number(b.raised_at !== null) - Number(a.raised_at !== null);

function AlarmCard({ alarm, onChange }: { alarm: Alarm; onChange: OnChange }) {
  const { name, tenant, filter, runs, all_runs: all } = alarm;
  const id = `alarm-${tenant}-${name}`;
  // the list leaves sub-runs out, unless it is asked for them
  const { children = true, ...rest } = filter;
  const found = Object.entries({ ...rest, ...(children && { children }) }).map(([field, value]) => [
    field,
    textOf(value),
  ]);
  return (
    <section aria-labelledby={id} class="card" data-alarm={name}>
      <div class="heading">
        <h2 id={id}>{name}</h2>
        {tenant !== 'default' && <Tag title="The tenant whose runs it counts">{tenant}</Tag>}
        <div class="actions">
          <EditAlarmButton alarm={alarm} onChange={onChange} />
          <AlarmActButton alarm={alarm} act={alarm.paused_at ? 'resume' : 'pause'} onChange={onChange} />
          <AlarmActButton alarm={alarm} act="remove" onChange={onChange} />
        </div>
      </div>
      <Facts
        items={[
          ['State', <State alarm={alarm} />],
          ['Rule', ruleOf(alarm)],
          ['Runs', <a href={href('runs', Object.fromEntries(found) as Record<string, string>)}>{wordsOf(filter)}</a>],
          ['Now', runs === null ? null : `${countOf(runs)}${all === null ? '' : ` of ${countOf(all)}`}`],
          ['Counted', alarm.counted_at && <Time at={alarm.counted_at} />],
        ]}
      />
      <Counts alarm={alarm} />
    </section>
  );
}

function State({ alarm: { raised_at: raisedAt, paused_at: pausedAt, counted_at: countedAt } }: { alarm: Alarm }) {
  if (pausedAt) return <span class="status">paused</span>;
  if (!raisedAt)
    return <span class={countedAt ? 'status good' : 'status'}>{countedAt ? 'quiet' : 'not counted yet'}</span>;
  return (
    <>
      <span class="status bad">raised</span> since <Time at={raisedAt} />
    </>
  );
}

const ruleOf = ({ more_than: moreThan, share, within_ms: withinMs }: Alarm): string =>
  `more than ${number(moreThan)} runs${share === null ? '' : ` and ${percent(share)} of all`} within ${periodOf(withinMs)}`;

const minute = 60_000;

const periodOf = (ms: number): string => (ms % (60 * minute) === 0 ? `${ms / (60 * minute)} h` : `${ms / minute} min`);

/** An alarm counts no further. */
const mostCounted = 10_000;
const countOf = (runs: number): string => `${number(runs)}${runs >= mostCounted ? ' or more' : ''}`;

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** A filter in the words of the columns. */
function wordsOf({ children, ...filter }: Alarm['filter']): string {
  const words = Object.entries(filter).map(([field, value]) => `${field.replaceAll('_', ' ')}: ${textOf(value)}`);
  if (children === false) words.push('without sub-runs');
  return words.join(', ') || 'all runs';
}

function Counts({ alarm: { name, tenant, counted_at: countedAt, more_than: moreThan } }: { alarm: Alarm }) {
  const loaded = useLoaded<AlarmCountList>(
    (signal) => get(v1('alarms', name, 'counts'), { tenant }, signal),
    [name, tenant, countedAt?.slice(0, 15)],
  );
  if (!loaded.data) return loaded.error ? <Failure error={loaded.error} /> : <Loading />;
  const counts = loaded.data.data;
  if (counts.length === 0) return <Empty>No worker has counted yet.</Empty>;
  return <Plot counts={counts} moreThan={moreThan} />;
}

const width = 288;
const height = 40;
/** A day has so many five minutes: each is as wide as one unit of the plot. */
const stepMs = 300_000;

/** The counts of a day as bars, and the number above which the alarm is raised as a line. */
function Plot({ counts, moreThan }: { counts: AlarmCount[]; moreThan: number }) {
  const last = Date.parse(counts.at(-1)!.at);
  const highest = Math.max(1, moreThan * 1.25, ...counts.map(({ runs }) => runs));
  const y = (runs: number) => height - (runs / highest) * height;
  const most = Math.max(...counts.map(({ runs }) => runs));
  const label = `Runs over the last day, at most ${number(most)} at once`;
  return (
    <svg class="counts" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {counts.map(({ at, runs, raised }) => (
        <rect
          key={at}
          class={raised ? 'raised' : ''}
          x={width - 1 - (last - Date.parse(at)) / stepMs}
          y={y(runs)}
          width={1}
          height={height - y(runs)}
        >
          <title>{`${fullTime(at)}: ${number(runs)}`}</title>
        </rect>
      ))}
      <line x1={0} x2={width} y1={y(moreThan)} y2={y(moreThan)} />
    </svg>
  );
}
