import type { EnqueueOptions } from '../../../src/runs/operations/runs/enqueue-options.ts';
import type { Asked, Asking, Room } from './rooms.ts';

/** Asks for a run, and keeps its handle. */
export async function enqueue(client: Asking, { name, thread, random }: Asked, more: Partial<EnqueueOptions> = {}) {
  const request: EnqueueOptions = {
    agent: 'agent',
    input: `go ${name}`,
    threadId: thread,
    createThread: true,
    requestId: `request-${name}`,
    busy: random.pick(['wait', 'wait', 'wait', 'interrupt', 'reject']),
    ...(random.chance(0.15) ? { priority: random.int(1, 3) } : {}),
    ...(random.chance(0.05) ? { delayMs: random.int(500, 6_000) } : {}),
    ...(random.chance(0.05) ? { ttlMs: random.int(500, 8_000) } : {}),
    ...more,
  };
  client.runs.push(await client.twice(random, () => client.library.runs.enqueue(request)));
}

const ofRecent = ({ runs }: Asking, { random }: Asked) => (runs.length === 0 ? undefined : random.pick(runs.slice(-4)));

/** Runs in conversations: what every other room is built on. */
export const runs: Room = {
  name: 'runs',
  calls: [
    { name: 'enqueue', share: 5, ask: enqueue },
    { name: 'enqueue other', share: 3, ask: (client, asked) => enqueue(client, asked, { agent: 'other' }) },
    {
      name: 'steer',
      share: 2,
      ask: ({ library }, { name, thread }) => library.runs.steer(thread, `and ${name}`, { inputId: `input-${name}` }),
    },
    {
      name: 'cancel',
      share: 1,
      async ask(client, asked) {
        const run = ofRecent(client, asked);
        if (run) await client.twice(asked.random, () => client.library.runs.cancel(run, 'changed my mind'));
      },
    },
    {
      name: 'decide',
      share: 3,
      async ask({ library, world, twice }, { random }) {
        if (world.approvals.length === 0) return;
        const { threadId, runId, round, index } = random.pick(world.approvals.slice(-5));
        const run = { threadId, id: runId };
        await twice(random, () => library.runs[random.chance(0.6) ? 'approve' : 'deny'](run, `${round}.${index}`));
      },
    },
  ],
  never: {
    'log-has-no-gap': `
      select format('%s has %s entries and rev %s', t.id, n, t.rev) from lanefold.thread t
      left join lateral (select count(*) n, max(seq) last from lanefold._entry e where e.thread_id = t.id) e on true
      where t.rev <> n or n > 0 and last <> n - 1`,
    'one-active-run': `
      select format('%s has %s active runs', thread_id, count(*)) from lanefold._run where active group by thread_id having count(*) > 1`,
    'a-waiting-run-is-promoted': `
      select format('%s of %s waits for no run', r.id, r.thread_id) from lanefold._run r
      where r.status = 'waiting' and not exists (select from lanefold._run a where a.thread_id = r.thread_id and a.active)`,
    'one-end': `
      select format('%s is %s, and has %s ends', r.id, r.status, n) from lanefold._run r
      left join lateral (select count(*) n from lanefold.run_event e where e.thread_id = r.thread_id and e.run_id = r.id
        and e.kind in ('request_completed', 'request_failed', 'request_cancelled')) e on true
      where n <> (r.finished_at is not null)::int`,
  },
};
