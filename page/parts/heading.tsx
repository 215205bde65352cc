import { useEffect, useRef } from 'preact/hooks';
import { arrive } from '../state/arrival.ts';
import { clip } from './format.ts';
import type { Run } from '../api/types.ts';
import { noneAlive, useWorkers } from '../state/use-loaded.ts';

/** Longer questions are clipped in the title. */
const maxChars = 100;

/** The heading of a view and title of its browser tab: the title, then the id. */
export function Heading({ title, id }: { title: string; id?: string | undefined }) {
  const element = useRef<HTMLHeadingElement>(null);
  const line = title.trim().replace(/\s+/g, ' ');
  const clipped = clip(line, maxChars);
  useEffect(() => {
    document.title = [clipped, ...(id && id !== clipped ? [id] : []), 'Lanefold'].join(' · ');
  }, [clipped, id]);
  useEffect(() => arrive(element.current!), []);
  return (
    <h1 id="title" tabIndex={-1} ref={element} title={clipped === line ? undefined : line}>
      {clipped} {id && id !== clipped && <span class="id">{id}</span>}
    </h1>
  );
}

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
