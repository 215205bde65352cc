import type { Run } from '../api/types.ts';
import { noneAlive, useWorkers } from '../state/use-workers.ts';

/** The known facts about a run in a list: its status, its agent, and its earliest start. */
type Listed = [status: Run['status'] | null, agent: string | undefined, startAt?: string | null];

/** Warns above a list if no worker can take one of its queued runs. Queries only while runs are queued. */
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
