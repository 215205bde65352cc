import type { Check } from './check.ts';

/** A run belongs to the agent it was handed over to last. */
export const handoffs: Check[] = [
  {
    invariant: 'I3',
    name: 'a run has the agent of its last handoff, and each handoff comes from the agent before',
    holds: 'always',
    sql: `
      select h.thread_id, h.run_id, h.event_seq, h.came_from, h.went_to, r.agent from (
        select thread_id, run_id, event_seq, data ->> 'from' as came_from, data ->> 'to' as went_to,
               lag(data ->> 'to') over w as before, lead(event_seq) over w is null as is_last
        from lanefold.run_event where kind = 'handed_over'
        window w as (partition by thread_id, run_id order by event_seq)) h
      join lanefold._run r on r.thread_id = h.thread_id and r.id = h.run_id
      where (h.before is not null and h.before <> h.came_from) or (h.is_last and h.went_to <> r.agent)`,
  },
  {
    invariant: 'I3',
    name: 'a call says that it handed the run over only if its agent got the run',
    holds: 'always',
    sql: `
      select e.thread_id, e.run_id, e.agent, e.told, coalesce(h.done, 0) as done from (
        select thread_id, run_id, refs #>> '{handoff,agent}' as agent, count(*) as told from lanefold.thread_entry
        where kind = 'ai_message' and role = 'tool' and (refs ? 'handoff' or payload ->> 'content' like '{"handed_to":%')
        group by 1, 2, 3) e
      left join (
        select thread_id, run_id, data ->> 'to' as agent, count(*) as done from lanefold.run_event
        where kind = 'handed_over' group by 1, 2, 3) h using (thread_id, run_id, agent)
      where e.told > coalesce(h.done, 0)`,
  },
];
