import type { Room } from './rooms.ts';

/** How many events there are: several calls wait for one. */
export const events = 8;

/** Child runs, and waits for events and for times: see the tools of the agents. */
export const waits: Room = {
  name: 'waits',
  calls: [
    {
      name: 'send event',
      share: 4,
      ask({ library }, { name, random }) {
        const event = `event:${random.int(1, events)}`;
        return library.events.send(
          event,
          { event, name },
          random.chance(0.3) ? { keepMs: random.int(500, 9_000) } : {},
        );
      },
    },
    {
      name: 'resolve',
      share: 1,
      async ask({ library }, { random }) {
        const { data } = await library.waits.list({ limit: 20 });
        if (data.length === 0) return;
        const { threadId, runId, call } = random.pick(data);
        await library.waits.resolve({ threadId, id: runId }, call);
      },
    },
  ],
  never: {
    'an-ended-run-waits-for-nothing': `
      select format('%s of %s has ended, and call %s.%s waits', r.id, r.thread_id, w.round, w.call_index)
      from lanefold._wait w join lanefold._run r on r.thread_id = w.thread_id and r.id = w.run_id
      where w.status = 'open' and r.finished_at is not null`,
    'a-suspended-run-waits': `
      select format('%s of %s is suspended, and waits for nothing', r.id, r.thread_id) from lanefold._run r
      where r.status = 'suspended' and not exists (
        select from lanefold._wait w where w.thread_id = r.thread_id and w.run_id = r.id and w.status = 'open')`,
    'a-call-has-one-result': `
      select format('%s of %s has %s results of %s calls', r.id, r.thread_id, e.n, c.n) from lanefold._run r,
        lateral (select count(*) n from lanefold._entry e where e.thread_id = r.thread_id and e.run_id = r.id and e.role = 'tool') e,
        lateral (select count(*) n from lanefold._tool_call c where c.thread_id = r.thread_id and c.run_id = r.id and c.result_seq is not null) c
      where e.n <> c.n`,
    'a-parent-is-told-of-an-end': `
      select format('call %s.%s of %s has the result of %s, which has not ended', w.round, w.call_index, w.run_id, c.id)
      from lanefold._wait w join lanefold._run c on c.thread_id = w.child_thread_id and c.id = w.child_run_id
      where w.kind = 'run' and w.status = 'resolved' and c.finished_at is null`,
    'an-event-is-the-one-waited-for': `
      select format('call %s.%s of %s waited for %s and got %s', w.round, w.call_index, w.run_id, w.event, e.payload ->> 'content')
      from lanefold._wait w
      join lanefold._tool_call c on c.thread_id = w.thread_id and c.run_id = w.run_id and c.round = w.round and c.call_index = w.call_index
      join lanefold._entry e on e.thread_id = c.thread_id and e.seq = c.result_seq
      where w.kind = 'event' and w.status = 'resolved' and e.payload ->> 'content' not like '%"' || w.event || '"%'`,
    'a-child-is-of-a-call': `
      select format('%s of %s has a parent that does not know it', c.run_id, c.thread_id) from lanefold._child_run c
      where not exists (select from lanefold._wait w where w.thread_id = c.parent_thread_id and w.run_id = c.parent_run_id
        and w.round = c.parent_round and w.call_index = c.parent_index and w.child_run_id = c.run_id)`,
  },
  pending: {
    'every-parent-is-told': `
      select format('the parent %s of %s', c.parent_run_id, c.run_id) from lanefold._child_run c where c.ended_at is not null and c.told_at is null`,
    'every-task-is-done': `
      select format('%s of call %s.%s of %s', w.task, w.round, w.call_index, w.run_id) from lanefold._wait w where w.task is not null`,
  },
};
