import type { Run } from '../api/types.ts';
import { noneAlive, useWorkers } from '../state/use-workers.ts';

/** A run in a list, as far as it is known: its status, its agent, and before when no worker is to start it. */
type Listed = [status: Run['status'] | null, agent: string | undefined, startAt?: string | null];

/** Says above a list that no worker can take a run that waits in it. Asks only while some do. */
export const WaitingNotice = ({ runs }: { runs: Listed[] }) => {
  const agents = runs.flatMap(([status, agent, startAt]) =>
    agent && status === 'queued' && !(startAt && Date.parse(startAt) > Date.now()) ? agent : [],
  );
  return agents.length > 0 ? <Notice agents={[...new Set(agents)]} /> : null;
};

function Notice({ agents }: { agents: string[] }) {
  const alive = useWorkers()?.filter(({ state }) => state === 'alive');
  const unknown = alive && agents.filter((name) => !alive.some((worker) => worker.agents.includes(name)));
  if (!unknown || unknown.length === 0) return null;
  const names = `the agent${unknown.length > 1 ? 's' : ''} ${unknown.join(', ')}`;
  return (
    <p class="notice" role="status">
      {alive.length > 0 ? `No worker that is alive knows ${names}.` : noneAlive}
    </p>
  );
}
