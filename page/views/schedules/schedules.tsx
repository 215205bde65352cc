import { useSignal } from '@preact/signals';
import { get, v1 } from '../../api/client.ts';
import type { Schedule, ScheduleList, ScheduleSlotList } from '../../api/types.ts';
import { Empty, Failure, Loading, Tag, Time } from '../../parts/basics.tsx';
import { fullTime } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { useLoaded } from '../../state/use-loaded.ts';
import { NewScheduleButton, PauseButton, RemoveButton } from './schedule-dialogs.tsx';
import { href } from '../../state/route.ts';

const refreshMs = 5_000;
const pageSize = 100;

/** Every schedule: its next slots, and what the last ones did. */
export function SchedulesView() {
  const shown = useSignal(pageSize);
  const read = (signal: AbortSignal) => get<ScheduleList>('/v1/schedules', { limit: shown.value }, signal);
  const loaded = useLoaded<ScheduleList>(read, [], { everyMs: refreshMs });
  const showMore = async () => {
    shown.value += pageSize;
    await loaded.reload();
  };
  const schedules = loaded.data?.data;
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <Heading title="Schedules" />
        <div class="actions">
          <NewScheduleButton onSet={loaded.reload} />
        </div>
      </div>
      <Failure error={loaded.error} />
      {!schedules && !loaded.error && <Loading />}
      {schedules?.length === 0 && <Empty>There are no schedules: no run starts by itself.</Empty>}
      {schedules?.map((schedule) => (
        <ScheduleCard key={`${schedule.tenant} ${schedule.name}`} schedule={schedule} onSet={loaded.reload} />
      ))}
      {loaded.data?.next_after && shown.value < 1_000 && (
        <button type="button" class="more" onClick={() => void showMore()}>
          Show more
        </button>
      )}
    </section>
  );
}

function ScheduleCard({ schedule, onSet }: { schedule: Schedule; onSet: () => Promise<void> }) {
  const { name, tenant, agent, next, overlap = 'skip', paused_at: pausedAt } = schedule;
  const id = `schedule-${tenant}-${name}`;
  return (
    <section aria-labelledby={id} class="card">
      <div class="heading">
        <h2 id={id}>{name}</h2>
        {tenant !== 'default' && <Tag title="The tenant whose runs it starts">{tenant}</Tag>}
        {schedule.source === 'code' && <Tag title="A program defines it">code</Tag>}
        {pausedAt && <Tag>paused</Tag>}
        <div class="actions">
          <PauseButton schedule={schedule} onSet={onSet} />
          <RemoveButton schedule={schedule} onSet={onSet} />
        </div>
      </div>
      <p>
        <strong>{agent}</strong> at {timesOf(schedule)}; {overlaps[overlap]}.
        <span class="muted">
          {' '}
          Set by {schedule.updated_by}, <Time at={schedule.updated_at} />
        </span>
      </p>
      {next.length > 0 && (
        <p>
          Next: <time dateTime={next[0]!}>{next.map((slot) => fullTime(slot)).join(' · ')}</time>
        </p>
      )}
      {next.length === 0 && !pausedAt && <p>It has ended.</p>}
      <Slots name={name} tenant={tenant} />
    </section>
  );
}

const overlaps: Record<string, string> = {
  skip: 'a slot passes while an earlier run is active',
  queue: 'a slot waits while an earlier run is active',
  interrupt: 'a slot cancels an earlier run that is active',
};

const timesOf = ({ cron, every_ms: everyMs, time_zone: zone }: Schedule): string =>
  cron === undefined ? `every ${(everyMs ?? 0) / 1_000} s` : `${cron} (${zone ?? 'UTC'})`;

const slotsRefreshMs = 5_000;
const shownSlots = 20;

/** What the last slots of a schedule did, once the reader asks for it. */
export function Slots({ name, tenant }: { name: string; tenant: string }) {
  const open = useSignal(false);
  return (
    <details onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>Slots so far</summary>
      {open.value && <SlotTable name={name} tenant={tenant} />}
    </details>
  );
}

const tones: Record<string, string> = { fired: 'good', failed: 'bad', due: 'wait', firing: 'busy' };

function SlotTable({ name, tenant }: { name: string; tenant: string }) {
  const loaded = useLoaded<ScheduleSlotList>(
    (signal) => get(v1('schedules', name, 'slots'), { tenant, limit: shownSlots }, signal),
    [],
    { everyMs: slotsRefreshMs },
  );
  if (!loaded.data) return loaded.error ? <Failure error={loaded.error} /> : <Loading />;
  if (loaded.data.data.length === 0) return <Empty>No slot has come yet.</Empty>;
  return (
    <table class="list">
      <thead>
        <tr>
          <th scope="col">Slot</th>
          <th scope="col">What it did</th>
        </tr>
      </thead>
      <tbody>
        {loaded.data.data.map(({ slot, status, thread_id: threadId, run_id: runId, error }) => (
          <tr key={slot}>
            <th scope="row">{fullTime(slot)}</th>
            <td data-label="what it did">
              <span class={`status ${tones[status] ?? 'idle'}`}>{status}</span>{' '}
              {threadId && runId && <a href={href('threads', threadId, 'runs', runId)}>{runId}</a>}
              {error && <span class="bad">{error.message}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
