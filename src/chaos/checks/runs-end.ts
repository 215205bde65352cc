import type { Check } from './check.ts';

/** An acknowledged run ends. */
export const i5: Check[] = [
  {
    invariant: 'I5',
    name: 'every run has ended',
    holds: 'at_rest',
    sql: `
      select thread_id, id as run_id, status, worker_id, lease_until, enqueue_no, step from lanefold.run
      where finished_at is null and status <> 'suspended'`,
  },
  {
    invariant: 'I5',
    name: 'the active run of a thread is the one in an active status',
    holds: 'always',
    sql: `
      select coalesce(t.id, r.thread_id) as thread_id, t.active_run_id, r.id as run_id
      from lanefold.thread t full join (select * from lanefold._run where active) r on r.thread_id = t.id
      where t.active_run_id is distinct from r.id`,
  },
  {
    invariant: 'I5',
    name: 'waiting_runs counts the waiting runs, and none waits for nobody',
    holds: 'always',
    sql: `
      select t.id as thread_id, t.waiting_runs, count(r.id) as waiting from lanefold.thread t
      left join lanefold._run r on r.thread_id = t.id and r.status = 'waiting'
      group by t.id having t.waiting_runs <> count(r.id) or (count(r.id) > 0 and t.active_run_id is null)`,
  },
  {
    invariant: 'I5',
    name: 'a suspended run waits for a decision and for no worker, and no other run does',
    holds: 'always',
    sql: `
      select r.thread_id, r.id as run_id, r.status, count(c.run_id) as awaiting from lanefold._run r
      left join lanefold._tool_call c on c.thread_id = r.thread_id and c.run_id = r.id and c.status = 'awaiting_approval'
      group by r.thread_id, r.id having (r.status = 'suspended') <> (count(c.run_id) > 0)
        or (r.status = 'suspended') <> (r.suspended_until is not null) or (r.status = 'suspended' and r.lease_until is not null)`,
  },
  {
    invariant: 'I5',
    name: 'a call is denied by a decision, which has its result',
    holds: 'always',
    sql: `
      select c.thread_id, c.run_id, c.round, c.call_index, c.status, c.approval from lanefold._tool_call c
      where c.result_seq is null
        and (c.status = 'denied') <> (coalesce(c.approval ->> 'decision', '') = 'denied' and c.outcome is not null)`,
  },
  {
    invariant: 'I5',
    name: 'one interrupt at most waits, and only for a run that is told to end',
    holds: 'always',
    sql: `
      select r.thread_id, count(*) as interrupts from lanefold._run r
      join lanefold._run a on a.thread_id = r.thread_id and a.active
      where r.status = 'waiting' and r.interrupts group by r.thread_id having count(*) > 1 or bool_or(a.cancel_requested_at is null)`,
  },
];
