import type { Check } from './check.ts';

/** A call that asks another agent has one run, and gets its answer. */
export const children: Check[] = [
  {
    invariant: 'I5',
    name: 'a run that a call started is the only one of that call, which names it',
    holds: 'always',
    sql: `
      select c.parent_thread_id, c.parent_run_id, c.parent_round, c.parent_index, c.thread_id, c.run_id
      from (select x.*, count(*) over (partition by parent_thread_id, parent_run_id, parent_round, parent_index) as siblings
            from lanefold._child_run x) c
      left join lanefold._wait w on w.thread_id = c.parent_thread_id and w.run_id = c.parent_run_id and w.round = c.parent_round
        and w.call_index = c.parent_index and w.request is not null
      where c.siblings > 1 or w.child_run_id is distinct from c.run_id`,
  },
  {
    invariant: 'I5',
    name: 'a call that waited for a run which completed has the answer of that run',
    holds: 'always',
    sql: `
      select w.thread_id, w.run_id, w.round, w.call_index, k.result, coalesce(e.payload, c.outcome) ->> 'content' as told
      from lanefold._wait w
      join lanefold.run k on k.thread_id = w.child_thread_id and k.id = w.child_run_id
      join lanefold._tool_call c on c.thread_id = w.thread_id and c.run_id = w.run_id and c.round = w.round and c.call_index = w.call_index
      left join lanefold._entry e on e.thread_id = c.thread_id and e.seq = c.result_seq
      where w.kind = 'run' and w.status = 'resolved' and k.status = 'completed' and jsonb_typeof(k.result) = 'string'
        and coalesce(e.payload, c.outcome) ->> 'content' is distinct from k.result #>> '{}'`,
  },
  {
    invariant: 'I5',
    name: 'no wait has anything left to do, and every parent knows how its children ended',
    holds: 'at_rest',
    sql: `
      select 'wait' as what, thread_id, run_id, task from lanefold._wait where task is not null
      union all
      select 'child', thread_id, run_id, null from lanefold._child_run where ended_at is null or told_at is null`,
  },
];
