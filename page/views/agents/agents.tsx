import { get } from '../../api/client.ts';
import type { AgentList, RolloutList } from '../../api/types.ts';
import { Empty, Failure, Loading } from '../../parts/basics.tsx';
import { Heading } from '../../parts/heading.tsx';
import { useLoaded } from '../../state/use-loaded.ts';
import { RemoveRolloutButton, RolloutButton } from './rollout-dialogs.tsx';
import { Versions } from './versions.tsx';

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
            <p>{served(labels, rollout?.weights, rollout?.key ?? null)}</p>
            <Versions agent={name} labels={labels} />
          </section>
        );
      })}
    </section>
  );
}

/** Who serves, in words. */
function served(labels: string[], weights: Record<string, number> | undefined, key: string | null): string {
  if (!weights) return labels.length > 1 ? `${labels[0]} serves all threads.` : 'There is one version.';
  const sum = Object.values(weights).reduce((all, share) => all + share, 0);
  const shares = Object.entries(weights).map(
    ([label, share]) => `${label} ${Math.round((share / sum) * 1_000) / 10} %`,
  );
  return `New threads${key === null ? '' : `, by ${key}`}: ${shares.join(', ')}. A thread keeps the version it has.`;
}
