import { get, put, remove, v1 } from '../../api/client.ts';
import type { AgentList, RolloutList, Rollout } from '../../api/types.ts';
import { Empty, Failure, Loading } from '../../parts/basics.tsx';
import { Heading } from '../../parts/heading.tsx';
import { useLoaded } from '../../state/use-loaded.ts';
import { Versions } from './versions.tsx';
import { DialogButton } from '../../parts/dialog.tsx';

/** Every agent of this server: its versions, what they came to, and which of them serve. */
export function AgentsView() {
  const agents = useLoaded<AgentList>((signal) => get('/v1/agents', {}, signal), []);
  const rollouts = useLoaded<RolloutList>((signal) => get('/v1/rollouts', {}, signal), []);
  const listed = agents.data?.data;
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <Heading title="Agents" />
      </div>
      <Failure error={agents.error ?? rollouts.error} />
      {!listed && !agents.error && <Loading />}
      {listed?.length === 0 && <Empty>This server was started without agents.</Empty>}
      {listed?.map(({ name, description, labels, model }) => {
        const rollout = rollouts.data?.data.find(({ agent }) => agent === name);
        return (
          <section key={name} aria-labelledby={`agent-${name}`} class="card">
            <div class="heading">
              <h2 id={`agent-${name}`}>{name}</h2>
              <div class="actions">
                {labels.length > 1 && (
                  <RolloutButton agent={name} labels={labels} rollout={rollout} onSet={rollouts.reload} />
                )}
                {rollout && <RemoveRolloutButton agent={name} onSet={rollouts.reload} />}
              </div>
            </div>
            <p>{description ?? <span class="mono">{model}</span>}</p>
            <p>{served(labels, rollout?.shares, rollout?.key ?? null)}</p>
            <Versions agent={name} labels={labels} />
          </section>
        );
      })}
    </section>
  );
}

/** Who serves, in words. */
function served(labels: string[], shares: Record<string, number> | undefined, key: string | null): string {
  if (!shares) return labels.length > 1 ? `${labels[0]} serves all threads.` : 'There is one version.';
  const sum = Object.values(shares).reduce((all, share) => all + share, 0);
  const parts = Object.entries(shares).map(([label, share]) => `${label} ${Math.round((share / sum) * 1_000) / 10} %`);
  return `New threads${key === null ? '' : `, by ${key}`}: ${parts.join(', ')}. A thread keeps the version it has.`;
}

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
    label={`Roll out: choose which versions of ${agent} serve`}
    submit="Set"
    kind="primary"
    onSubmit={async (fields) => {
      const all = [...new Set([...labels, ...Object.keys(rollout?.shares ?? {})])];
      const shares = Object.fromEntries(all.map((label) => [label, Number(fields.get(`share-${label}`) ?? 0)]));
      const key = String(fields.get('key') ?? '').trim();
      await put(v1('agents', agent, 'rollout'), { shares, key: key === '' ? null : key });
      await onSet();
    }}
  >
    {[...new Set([...labels, ...Object.keys(rollout?.shares ?? {})])].map((label, at) => (
      <label key={label}>
        <span>Share of {label}</span>
        <input
          name={`share-${label}`}
          type="number"
          min="0"
          step="any"
          required
          defaultValue={String(rollout ? (rollout.shares[label] ?? 0) : at === 0 ? 100 : 0)}
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
