import { useSignal } from '@preact/signals';
import { get } from '../../api/client.ts';
import type { Schedule, ScheduleList } from '../../api/types.ts';
import { Empty, Failure, Loading, Tag, Time } from '../../parts/basics.tsx';
import { fullTime } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { useLoaded } from '../../state/use-loaded.ts';
import { NewScheduleButton, PauseButton, RemoveButton } from './schedule-dialogs.tsx';
import { Slots } from './slots.tsx';

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
    <section aria-labelledby={id} class="card limit">
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
  skip: 'a slot passes while an earlier run goes on',
  queue: 'a slot waits while an earlier run goes on',
  interrupt: 'a slot cancels an earlier run that goes on',
};

const timesOf = ({ cron, every_ms: everyMs, time_zone: zone }: Schedule): string =>
  cron === undefined ? `every ${(everyMs ?? 0) / 1_000} s` : `${cron} (${zone ?? 'UTC'})`;
