import type { Room } from './rooms.ts';

const handed = (run: string) => `
  lateral (select count(*) n from lanefold.run_event v where v.thread_id = ${run}.thread_id and v.run_id = ${run}.id and v.kind = 'handed_over') h`;

/** Runs that agents give to one another, from a tool or with an answer: see the tools of the agents. */
export const handoffs: Room = {
  name: 'handoffs',
  calls: [],
  never: {
    'a-handoff-is-in-the-trace': `
      select format('%s of %s was handed over %s times, and its trace says %s', r.id, r.thread_id, jsonb_array_length(r.options -> 'handoffs'), h.n)
      from lanefold._run r, ${handed('r')} where coalesce(jsonb_array_length(r.options -> 'handoffs'), 0) <> h.n`,
    'the-agent-is-the-last-one': `
      select format('%s of %s is of %s, and was handed to %s', r.id, r.thread_id, r.agent, r.options #>> '{handoffs,-1,to}') from lanefold._run r
      where r.agent <> r.options #>> '{handoffs,-1,to}'`,
    'who-was-told-has-the-run': `
      select format('%s of %s was handed over %s times, and its calls were told of %s', r.id, r.thread_id, h.n, e.n)
      from lanefold._run r, ${handed('r')},
        lateral (select count(*) n from lanefold._entry e where e.thread_id = r.thread_id and e.run_id = r.id and e.refs ? 'handoff') e
      where e.n > h.n and r.status = 'completed'`,
  },
};
