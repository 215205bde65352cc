import { enqueue } from './runs.ts';
import type { Room } from './rooms.ts';

/** SQL: the version that a run wants, by its label or id; null: any. */
export const wanted = (row: string): string =>
  `case when jsonb_typeof(${row}.options -> 'pinned') = 'string' then ${row}.options ->> 'pinned' else ${row}.options ->> 'version' end`;

/** Agents and versions that some workers lack, while deployments replace workers: see `deployments`. */
export const versions: Room = {
  name: 'versions',
  calls: [
    { name: 'enqueue rare', share: 2, ask: (client, asked) => enqueue(client, asked, { agent: 'rare' }) },
    { name: 'enqueue 1', share: 1, ask: (client, asked) => enqueue(client, asked, { version: '1' }) },
    { name: 'enqueue 2', share: 2, ask: (client, asked) => enqueue(client, asked, { version: '2' }) },
    {
      name: 'roll out',
      share: 1,
      ask: ({ library }, { random }) =>
        library.agents.setRollout('agent', { shares: { 1: random.int(0, 3), 2: random.int(1, 3) } }),
    },
    {
      name: 'move thread',
      share: 1,
      ask: ({ library }, { thread, random }) =>
        library.agents.moveThread(thread, 'agent', random.pick(['1', '2', null])),
    },
  ],
  never: {
    'a-run-is-held-by-a-worker-that-has-its-agent': `
      select format('%s of %s is held by %s', r.id, r.agent, w.id) from lanefold._run r join lanefold._worker w on w.id = r.worker_id
      where r.status = 'running' and not (r.agent = any (w.agents)
        and (${wanted('r')} is null or r.agent || '@' || ${wanted('r')} = any (w.versions)))`,
    'a-pinned-run-keeps-its-version': `
      select format('%s of %s began with %s, and continues under %s', r.id, r.thread_id, r.options ->> 'pinned', r.agent_version)
      from lanefold._run r
      where r.status = 'running' and jsonb_typeof(r.options -> 'pinned') = 'string' and r.agent_version <> r.options ->> 'pinned'`,
    // a worker that was there for so long has seen the run
    'no-run-fails-for-a-worker-that-is-alive': `
      select format('%s of %s failed, and %s has the agent since %s', r.id, r.thread_id, w.id, w.started_at)
      from lanefold._run r join lanefold._worker w on r.agent = any (w.agents)
        and (${wanted('r')} is null or r.agent || '@' || ${wanted('r')} = any (w.versions))
      where r.error ->> 'type' in ('unknown_agent', 'unknown_version') and w.started_at < r.finished_at - interval '15 s'
        and w.heartbeat_at between r.finished_at - interval '5 s' and r.finished_at + interval '30 s' and w.stopped_at is null and not w.draining`,
  },
};
