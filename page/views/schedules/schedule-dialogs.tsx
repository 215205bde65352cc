import { post, put, remove, v1 } from '../../api/client.ts';
import type { Schedule } from '../../api/types.ts';
import { AgentSelect } from '../../parts/agent-select.tsx';
import { DialogButton } from '../../parts/dialog.tsx';

const pathOf = ({ name, tenant }: Schedule, ...action: string[]): string =>
  `${v1('schedules', name, ...action)}?tenant=${encodeURIComponent(tenant)}`;

/** Sets a new schedule. */
export const NewScheduleButton = ({ onSet }: { onSet: () => Promise<void> }) => (
  <DialogButton
    title="Set a schedule"
    button="Set a schedule"
    submit="Set"
    kind="primary"
    onSubmit={async (fields) => {
      const text = (name: string) => String(fields.get(name) ?? '').trim();
      await put(v1('schedules', text('name')), {
        agent: text('agent'),
        input: text('input'),
        cron: text('cron'),
        overlap: text('overlap'),
        ...(text('time_zone') ? { time_zone: text('time_zone') } : {}),
        ...(text('thread_id') ? { thread_id: text('thread_id') } : {}),
      });
      await onSet();
    }}
  >
    <label>
      <span>Name</span>
      <input name="name" required />
    </label>
    <AgentSelect />
    <label>
      <span>User message of each run; {'{{date}}'} becomes the date of the slot</span>
      <textarea name="input" rows={3} required placeholder="Write the report of {{date}}." />
    </label>
    <label>
      <span>Cron expression: minute, hour, day, month, day of the week</span>
      <input name="cron" required placeholder="0 6 * * MON-FRI" />
    </label>
    <label>
      <span>Time zone; empty for UTC</span>
      <input name="time_zone" placeholder="Europe/Berlin" />
    </label>
    <label>
      <span>Thread that all its runs continue; empty for a new one each</span>
      <input name="thread_id" />
    </label>
    <label>
      <span>While an earlier run is active, a slot</span>
      <select name="overlap">
        <option value="skip">passes</option>
        <option value="queue">waits</option>
        <option value="interrupt">cancels it</option>
      </select>
    </label>
  </DialogButton>
);

export function PauseButton({ schedule, onSet }: { schedule: Schedule; onSet: () => Promise<void> }) {
  const [word, action, text] = schedule.paused_at
    ? ['Resume', 'resume', 'It resumes from its next slot; slots that have passed do not run.']
    : ['Pause', 'pause', 'It starts no runs until it is resumed. Runs that it has started continue.'];
  return (
    <DialogButton
      title={`${word} ${schedule.name}?`}
      button={word!}
      label={`${word} ${schedule.name}`}
      submit={word!}
      kind="small"
      onSubmit={async () => {
        await post(pathOf(schedule, action!));
        await onSet();
      }}
    >
      <p>{text}</p>
    </DialogButton>
  );
}

export const RemoveButton = ({ schedule, onSet }: { schedule: Schedule; onSet: () => Promise<void> }) => (
  <DialogButton
    title={`Remove ${schedule.name}?`}
    button="Remove"
    label={`Remove ${schedule.name}`}
    submit="Remove"
    kind="small"
    onSubmit={async () => {
      await remove(pathOf(schedule));
      await onSet();
    }}
  >
    <p>Runs that it has started continue.</p>
  </DialogButton>
);
