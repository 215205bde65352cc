import type { Check } from './check.ts';

export const everyRunEnded: Check = {
  invariant: 'I5',
  name: 'every run has ended',
  holds: 'at_rest',
  sql: `
      select thread_id, id as run_id, status, worker_id, lease_until, enqueue_no, step from lanefold.run
      where finished_at is null and status <> 'suspended'`,
};

/** An acknowledged run ends. */
export const runsEnd: Check[] = [
  everyRunEnded,
  {
    invariant: 'I5',
    name: 'the active run of a thread is the one with an active status',
    holds: 'always',
    sql: `
      select coalesce(t.id, r.thread_id) as thread_id, t.active_run_id, r.id as run_id
      from lanefold.thread t full join (select * from lanefold._run where active) r on r.thread_id = t.id
      where t.active_run_id is distinct from r.id`,
  },
  {
    invariant: 'I5',
    name: 'waiting_runs equals the number of waiting runs, which wait only behind an active run',
    holds: 'always',
    sql: `
      select t.id as thread_id, t.waiting_runs, count(r.id) as waiting from lanefold.thread t
      left join lanefold._run r on r.thread_id = t.id and r.status = 'waiting'
      group by t.id having t.waiting_runs <> count(r.id) or (count(r.id) > 0 and t.active_run_id is null)`,
  },
  {
    invariant: 'I5',
    name: 'a suspended run has an open wait and no lease, and no ended run has an open wait',
    holds: 'always',
    sql: `
      select r.thread_id, r.id as run_id, r.status, count(w.run_id) as open from lanefold._run r
      left join lanefold._wait w on w.thread_id = r.thread_id and w.run_id = r.id and w.status = 'open'
      group by r.thread_id, r.id having (r.status = 'suspended' and count(w.run_id) = 0)
        or (r.finished_at is not null and count(w.run_id) > 0)
        or (r.status = 'suspended') <> (r.suspended_until is not null) or (r.status = 'suspended' and r.lease_until is not null)`,
  },
  {
    invariant: 'I5',
    name: 'a call awaits a decision if and only if its approval is an open wait of a suspended run',
    holds: 'always',
    sql: `
      select c.thread_id, c.run_id, c.round, c.call_index, c.status from lanefold._tool_call c
      join lanefold._run r on r.thread_id = c.thread_id and r.id = c.run_id
      left join lanefold._wait w on w.thread_id = c.thread_id and w.run_id = c.run_id and w.round = c.round
        and w.call_index = c.call_index and w.kind = 'approval' and w.status = 'open'
      where (c.status = 'awaiting_approval') <> (w.run_id is not null)
        or (c.status = 'awaiting_approval' and r.status <> 'suspended')`,
  },
  {
    invariant: 'I5',
    name: 'a call is denied if and only if a decision denied it and its outcome is stored',
    holds: 'always',
    sql: `
      select c.thread_id, c.run_id, c.round, c.call_index, c.status, c.approval from lanefold._tool_call c
      where c.result_seq is null
        and (c.status = 'denied') <> (coalesce(c.approval ->> 'decision', '') = 'denied' and c.outcome is not null)`,
  },
  {
    invariant: 'I5',
    name: 'at most one interrupt waits, and only for a run whose cancellation was requested',
    holds: 'always',
    sql: `
      select r.thread_id, count(*) as interrupts from lanefold._run r
      join lanefold._run a on a.thread_id = r.thread_id and a.active
      where r.status = 'waiting' and r.interrupts group by r.thread_id having count(*) > 1 or bool_or(a.cancel_requested_at is null)`,
  },
];
