import { put, remove, v1 } from '../../api/client.ts';
import type { NewLimit, UsedLimit } from '../../api/types.ts';
import { DialogButton } from '../../parts/dialog.tsx';
import { readScope } from './words.ts';

const kinds: [NewLimit['kind'], string][] = [
  ['concurrency', 'runs at work'],
  ['runs', 'runs started'],
  ['requests', 'model calls'],
  ['tokens', 'tokens'],
  ['money', 'US dollars'],
];
const intervals: [string, string][] = [
  ['', 'none: for runs at work'],
  ...['second', 'minute', 'hour', 'day'].map((name): [string, string] => [name, `any ${name}`]),
  ...['day', 'week', 'month'].map((name): [string, string] => [`calendar ${name}`, `calendar ${name} (UTC)`]),
];

const pathOf = (name: string, tenant: string | null): string =>
  v1('limits', name) + (tenant === null ? '' : `?tenant=${encodeURIComponent(tenant)}`);

const Amount = ({ value }: { value?: number }) => (
  <label>
    <span>Amount</span>
    <input
      name="amount"
      type="number"
      min="0"
      step="any"
      required
      defaultValue={value === undefined ? '' : String(value)}
    />
  </label>
);

/** Sets a new limit. */
export const NewLimitButton = ({ onSet }: { onSet: () => Promise<void> }) => (
  <DialogButton
    title="Set a limit"
    button="Set a limit"
    submit="Set"
    kind="primary"
    onSubmit={async (fields) => {
      const text = (name: string) => String(fields.get(name) ?? '').trim();
      const interval = text('interval');
      const limit = {
        kind: text('kind'),
        amount: Number(text('amount')),
        scope: readScope(text('scope')),
        ...(interval.startsWith('calendar ') ? { calendar: interval.slice(9) } : interval ? { per: interval } : {}),
        ...(text('share_by') ? { share_by: text('share_by') } : {}),
        on_exhausted: text('on_exhausted'),
      };
      await put(v1('limits', text('name')), limit);
      await onSet();
    }}
  >
    <label>
      <span>Name</span>
      <input name="name" required />
    </label>
    <label>
      <span>What it counts</span>
      <select name="kind">
        {kinds.map(([kind, title]) => (
          <option key={kind} value={kind}>
            {title}
          </option>
        ))}
      </select>
    </label>
    <Amount />
    <label>
      <span>Interval</span>
      <select name="interval">
        {intervals.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </label>
    <label>
      <span>Scope: dimension=value, with * for each value; empty for all runs</span>
      <input name="scope" placeholder="customer=*, agent=support" />
    </label>
    <label>
      <span>Dimension whose values take turns</span>
      <input name="share_by" placeholder="customer" />
    </label>
    <label>
      <span>Once it is used up, a run that needs more</span>
      <select name="on_exhausted">
        <option value="wait">waits</option>
        <option value="end">ends</option>
        <option value="notice">continues, with a notice</option>
      </select>
    </label>
  </DialogButton>
);

/** Changes the amount of a limit, and leaves all else. */
export function AmountButton({ limit, onSet }: { limit: UsedLimit; onSet: () => Promise<void> }) {
  const {
    name,
    tenant,
    created_at: _,
    updated_at: __,
    updated_by: ___,
    usage: ____,
    next_after: _____,
    ...definition
  } = limit;
  return (
    <DialogButton
      title={`Amount of ${name}`}
      button="Change"
      label={`Change the amount of ${name}`}
      submit="Set"
      kind="small"
      onSubmit={async (fields) => {
        await put(pathOf(name, tenant), { ...definition, amount: Number(fields.get('amount')) });
        await onSet();
      }}
    >
      <Amount value={limit.amount} />
    </DialogButton>
  );
}

export const RemoveButton = ({ limit, onSet }: { limit: UsedLimit; onSet: () => Promise<void> }) => (
  <DialogButton
    title={`Remove ${limit.name}?`}
    button="Remove"
    label={`Remove ${limit.name}`}
    submit="Remove"
    kind="small"
    onSubmit={async () => {
      await remove(pathOf(limit.name, limit.tenant));
      await onSet();
    }}
  >
    <p>Runs that wait for it continue.</p>
  </DialogButton>
);
