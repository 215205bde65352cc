import { post, put, remove, v1 } from '../../api/client.ts';
import type { Alarm } from '../../api/types.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { filterOf, type QueryFilter } from '../bulk/filter-of.ts';

export type OnChange = () => Promise<unknown>;

const minute = 60_000;
const statuses = ['waiting', 'queued', 'running', 'suspended', 'completed', 'failed', 'cancelled'];

const pathOf = ({ name, tenant }: Pick<Alarm, 'name' | 'tenant'>, ...action: string[]): string =>
  `${v1('alarms', name, ...action)}?tenant=${encodeURIComponent(tenant)}`;

/** The rule of the fields of a form. */
function ruleIn(fields: FormData) {
  const text = (name: string) => String(fields.get(name) ?? '').trim();
  const share = text('share');
  return {
    more_than: Number(text('more_than')),
    ...(share === '' ? {} : { share: Number(share) / 100 }),
    within_ms: Number(text('within')) * minute,
  };
}

const nameIn = (fields: FormData): string => String(fields.get('name') ?? '').trim();

function Rule({ alarm }: { alarm?: Alarm }) {
  return (
    <>
      <label>
        <span>Raised when more runs than</span>
        <input
          name="more_than"
          type="number"
          min={0}
          max={9_999}
          required
          defaultValue={String(alarm?.more_than ?? 10)}
        />
      </label>
      <label>
        <span>are accepted within minutes</span>
        <input
          name="within"
          type="number"
          min={1}
          max={10_080}
          required
          defaultValue={String((alarm?.within_ms ?? 10 * minute) / minute)}
        />
      </label>
      <label>
        <span>and are more than this share of all runs of the agent, in percent; empty: any</span>
        <input
          name="share"
          type="number"
          min={1}
          max={99}
          defaultValue={alarm?.share ? String(Math.round(alarm.share * 100)) : ''}
        />
      </label>
      <p class="muted">An alarm counts up to 10,000 runs. Webhooks are told with alarm.raised and alarm.cleared.</p>
    </>
  );
}

const Name = () => (
  <label>
    <span>Name</span>
    <input name="name" required placeholder="many-failures" />
  </label>
);

/** Sets a new alarm of a filter that is chosen here. */
export const NewAlarmButton = ({ onChange }: { onChange: OnChange }) => (
  <DialogButton
    title="Set an alarm"
    button="Set an alarm"
    submit="Set"
    kind="primary"
    onSubmit={async (fields) => {
      const filter = filterOf({ status: String(fields.get('status')), agent: String(fields.get('agent')).trim() });
      await put(v1('alarms', nameIn(fields)), { filter, ...ruleIn(fields) });
      await onChange();
    }}
  >
    <Name />
    <label>
      <span>Status of the runs</span>
      <select name="status">
        <option value="">any</option>
        {statuses.map((status) => (
          <option key={status} selected={status === 'failed'}>
            {status}
          </option>
        ))}
      </select>
    </label>
    <label>
      <span>Agent; empty: all</span>
      <input name="agent" />
    </label>
    <Rule />
  </DialogButton>
);

/** Changes the rule of an alarm. */
export const EditAlarmButton = ({ alarm, onChange }: { alarm: Alarm; onChange: OnChange }) => (
  <DialogButton
    title={`Change ${alarm.name}`}
    button="Change"
    label={`Change ${alarm.name}`}
    submit="Change"
    kind="small"
    onSubmit={async (fields) => {
      await put(pathOf(alarm), { filter: alarm.filter, clear_after_ms: alarm.clear_after_ms, ...ruleIn(fields) });
      await onChange();
    }}
  >
    <Rule alarm={alarm} />
  </DialogButton>
);

/** For a list of runs: makes an alarm of its filter. Times are the alarm's own. */
export const MakeAlarmButton = ({ filter, onChange }: { filter: QueryFilter; onChange?: OnChange }) => (
  <DialogButton
    title="Make an alarm of this filter"
    button="Make an alarm"
    submit="Make an alarm"
    onSubmit={async (fields) => {
      const { created_after: _, created_before: __, ...rest } = filterOf(filter);
      await put(v1('alarms', nameIn(fields)), { filter: rest, ...ruleIn(fields) });
      await onChange?.();
    }}
  >
    <Name />
    <Rule />
  </DialogButton>
);

const acts = {
  pause: ['Pause', 'It is cleared, and not counted until it is resumed.'],
  resume: ['Resume', 'Workers count for it again.'],
  remove: ['Remove', 'It is cleared, and its counts are deleted.'],
} as const;

/** A button that does something to an alarm, once it is confirmed. */
export function AlarmActButton({ alarm, act, onChange }: { alarm: Alarm; act: keyof typeof acts; onChange: OnChange }) {
  const [word, text] = acts[act];
  return (
    <DialogButton
      title={`${word} ${alarm.name}?`}
      button={word}
      label={`${word} ${alarm.name}`}
      submit={word}
      kind="small"
      onSubmit={async () => {
        await (act === 'remove' ? remove(pathOf(alarm)) : post(pathOf(alarm, act)));
        await onChange();
      }}
    >
      <p>{text}</p>
    </DialogButton>
  );
}
