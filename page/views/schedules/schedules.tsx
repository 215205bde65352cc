import { get, post, remove, v1 } from '../../api/client.ts';
import type { Schedule, ScheduleList, ScheduleSlotList } from '../../api/types.ts';
import { Empty, Failure, Loading, Status, Tag, Time } from '../../parts/basics.tsx';
import { DialogButton } from '../../parts/dialog.tsx';
import { fullTime } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';

const refreshMs = 5_000;
const shownSlots = 10;

/** Every schedule: its next slots, and what the last ones did. */
export function SchedulesView() {
  const loaded = useLoaded<ScheduleList>((signal) => get('/v1/schedules', {}, signal), [], { everyMs: refreshMs });
  const schedules = loaded.data?.data;
  return (
    <section aria-labelledby="title">
      <Heading title="Schedules" />
      <Failure error={loaded.error} />
      {!schedules && !loaded.error && <Loading />}
      {schedules?.length === 0 && <Empty>There are no schedules: no run starts by itself.</Empty>}
      {schedules?.map((schedule) => (
        <ScheduleCard key={`${schedule.tenant} ${schedule.name}`} schedule={schedule} onChange={loaded.reload} />
      ))}
    </section>
  );
}

function ScheduleCard({ schedule, onChange }: { schedule: Schedule; onChange: () => Promise<void> }) {
  const { name, tenant, agent, next, paused_at: pausedAt } = schedule;
  const id = `schedule-${tenant}-${name}`;
  const path = (action?: string) => `${v1('schedules', name, ...(action ? [action] : []))}?tenant=${encodeURIComponent(tenant)}`;
  const act = (action: string) => post(path(action)).then(onChange);
  return (
    <section aria-labelledby={id} class="card limit">
      <div class="heading">
        <h2 id={id}>{name}</h2>
        {tenant !== 'default' && <Tag title="Its tenant">{tenant}</Tag>}
        {schedule.source === 'code' && <Tag title="A program defines it">code</Tag>}
        <div class="actions">
          <button type="button" class="small" onClick={() => void act(pausedAt ? 'resume' : 'pause')}>
            {pausedAt ? 'Resume' : 'Pause'}
          </button>
          <DialogButton
            title={`Remove ${name}?`}
            button="Remove"
            label={`Remove ${name}`}
            submit="Remove"
            kind="small"
            onSubmit={async () => {
              await remove(path());
              await onChange();
            }}
          >
            <p>Runs that it has started go on.</p>
          </DialogButton>
        </div>
      </div>
      <p>
        {timesOf(schedule)}: {agent}, {overlaps[schedule.overlap ?? 'skip']}
        <span class="muted">
          {' '}
          Set by {schedule.updated_by}, <Time at={schedule.updated_at} />
        </span>
      </p>
      <p>
        {pausedAt ? (
          <span class="status wait">paused</span>
        ) : next.length === 0 ? (
          'It has ended.'
        ) : (
          <>Next: {next.map((slot) => fullTime(slot)).join(' · ')}</>
        )}
      </p>
      <Slots path={path('slots')} />
    </section>
  );
}

function Slots({ path }: { path: string }) {
  const { data } = useLoaded<ScheduleSlotList>((signal) => get(`${path}&limit=${shownSlots}`, {}, signal), [path], {
    everyMs: refreshMs,
  });
  if (!data || data.data.length === 0) return null;
  return (
    <table class="list">
      <thead>
        <tr>
          <th scope="col">Slot</th>
          <th scope="col">What it did</th>
        </tr>
      </thead>
      <tbody>
        {data.data.map(({ slot, status, thread_id: threadId, run_id: runId, error }) => (
          <tr key={slot}>
            <th scope="row">{fullTime(slot)}</th>
            <td data-label="what it did">
              <Status status={status} />{' '}
              {threadId && runId && <a href={href('threads', threadId, 'runs', runId)}>run</a>}
              {error && <span class="bad">{error.message}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const overlaps: Record<string, string> = {
  skip: 'skips a slot while an earlier run goes on',
  queue: 'one run after the other',
  interrupt: 'a slot interrupts the run before it',
};

const timesOf = ({ cron, every_ms: everyMs, time_zone: zone }: Schedule): string =>
  cron === undefined ? `every ${(everyMs ?? 0) / 1_000} s` : `${cron} (${zone ?? 'UTC'})`;
