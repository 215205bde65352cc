import { put, remove, v1 } from '../../api/client.ts';
import type { Rollout } from '../../api/types.ts';
import { DialogButton } from '../../parts/dialog.tsx';

interface Props {
  agent: string;
  /** Of the versions of this server. */
  labels: string[];
  rollout: Rollout | undefined;
  onSet: () => Promise<void>;
}

/** Sets the shares of the versions. */
export const RolloutButton = ({ agent, labels, rollout, onSet }: Props) => (
  <DialogButton
    title={`Which versions of ${agent} serve`}
    button="Roll out"
    label={`Choose which versions of ${agent} serve`}
    submit="Set"
    kind="primary"
    onSubmit={async (fields) => {
      const all = [...new Set([...labels, ...Object.keys(rollout?.weights ?? {})])];
      const weights = Object.fromEntries(all.map((label) => [label, Number(fields.get(`share-${label}`) ?? 0)]));
      const key = String(fields.get('key') ?? '').trim();
      await put(v1('agents', agent, 'rollout'), { weights, key: key === '' ? null : key });
      await onSet();
    }}
  >
    {[...new Set([...labels, ...Object.keys(rollout?.weights ?? {})])].map((label, at) => (
      <label key={label}>
        <span>Share of {label}</span>
        <input
          name={`share-${label}`}
          type="number"
          min="0"
          step="any"
          required
          defaultValue={String(rollout ? (rollout.weights[label] ?? 0) : at === 0 ? 100 : 0)}
        />
      </label>
    ))}
    <label>
      <span>Limit key that decides instead of the thread</span>
      <input name="key" placeholder="customer" defaultValue={rollout?.key ?? ''} />
    </label>
    <p>New threads get a version by these shares. Threads keep the version they have.</p>
  </DialogButton>
);

export const RemoveRolloutButton = ({ agent, onSet }: Pick<Props, 'agent' | 'onSet'>) => (
  <DialogButton
    title={`Remove the rollout of ${agent}?`}
    button="Remove rollout"
    label={`Remove the rollout of ${agent}`}
    submit="Remove"
    kind="small"
    onSubmit={async () => {
      await remove(v1('agents', agent, 'rollout'));
      await onSet();
    }}
  >
    <p>The first version serves all threads again, also those that had another one.</p>
  </DialogButton>
);
