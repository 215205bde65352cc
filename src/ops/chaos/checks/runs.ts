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

/** Each run ends once. */
export const oneTerminalEvent: Check[] = [
  {
    invariant: 'I3',
    name: 'an ended run has exactly one terminal event, matching its status; other runs have no terminal event',
    holds: 'always',
    sql: `
      select r.thread_id, r.id as run_id, r.status, array_agg(e.kind) as terminal from lanefold.run r left join lanefold.run_event e
        on e.thread_id = r.thread_id and e.run_id = r.id and e.kind in ('request_completed', 'request_failed', 'request_cancelled')
      group by r.thread_id, r.id, r.status, r.finished_at
      having array_remove(array_agg(e.kind), null) is distinct from
        case when r.finished_at is null then '{}' else array['request_' || r.status] end`,
  },
  {
    invariant: 'I3',
    name: 'a run whose cancellation was recorded before it ended is cancelled',
    holds: 'always',
    sql: `
      select thread_id, id as run_id, status, cancel_requested_at, finished_at from lanefold.run
      where cancel_requested_at is not null and finished_at is not null and status <> 'cancelled'`,
  },
];

/** An operation is applied at most once. */
export const operationsOnce: Check[] = [
  {
    invariant: 'I6',
    name: 'an operation is in the log exactly once if it was applied, and otherwise absent',
    holds: 'always',
    sql: `
      select coalesce(o.thread_id, e.thread_id) as thread_id, coalesce(o.op_id, e.op_id) as op_id, o.status, e.seqs from lanefold.context_op o
      full join (select thread_id, op_id, array_agg(seq) as seqs from lanefold.thread_entry where kind = 'ai_context_operation' group by 1, 2) e
        on e.thread_id = o.thread_id and e.op_id = o.op_id
      where e.seqs is distinct from case when o.status = 'applied' then array[o.entry_seq] end`,
  },
  {
    invariant: 'I6',
    name: 'a pending operation waits for an active run',
    holds: 'always',
    sql: `
      select coalesce(t.id, o.thread_id) as thread_id, t.pending_op_id, o.op_id
      from lanefold.thread t full join (select * from lanefold.context_op where status = 'pending') o on o.thread_id = t.id
      where t.pending_op_id is distinct from o.op_id or (o.op_id is not null and t.active_run_id is null)`,
  },
];

/** An input to a run reaches it exactly once, before its final answer. */
export const inputsOnce: Check[] = [
  {
    invariant: 'I7',
    name: 'an input is in the log exactly once if it was injected, and otherwise absent',
    holds: 'always',
    sql: `
      select coalesce(i.thread_id, e.thread_id) as thread_id, coalesce(i.id, e.input_id) as input_id, i.status, e.seqs from lanefold.pending_input i
      full join (select thread_id, refs ->> 'input_id' as input_id, array_agg(seq) as seqs from lanefold.thread_entry
                 where kind = 'ai_message' and refs ? 'input_id' group by 1, 2) e on e.thread_id = i.thread_id and e.input_id = i.id
      where e.seqs is distinct from case when i.status = 'injected' then array[i.entry_seq] end`,
  },
  {
    invariant: 'I7',
    name: 'a run that ended with a final answer received every input before that answer',
    holds: 'always',
    sql: `
      select i.thread_id, i.run_id, i.id as input_id, i.status, i.entry_seq, r.result_seq from lanefold.pending_input i
      join lanefold.run r on r.thread_id = i.thread_id and r.id = i.run_id
      where r.termination_reason = 'final_answer' and (i.status <> 'injected' or i.entry_seq > r.result_seq)`,
  },
  {
    invariant: 'I7',
    name: 'queued_inputs equals the number of queued inputs, and is 0 for ended runs',
    holds: 'always',
    sql: `
      select r.thread_id, r.id as run_id, r.queued_inputs, count(i.id) as queued from lanefold._run r
      left join lanefold.pending_input i on i.thread_id = r.thread_id and i.run_id = r.id and i.status = 'queued'
      group by r.thread_id, r.id having r.queued_inputs <> count(i.id) or (r.finished_at is not null and count(i.id) > 0)`,
  },
];

/** Lists find a run by what is notable about it. */
export const marksStored: Check[] = [
  {
    invariant: 'I5',
    name: 'the marks of an ended run are stored',
    holds: 'always',
    sql: `
      with derived as (
        select t.thread_id, m.run_id, m.kind, count(*) as count, min(m.seq) as seq
        from (select thread_id, array_agg(id::text) as ids from lanefold._run
              where finished_at is not null and trace_dropped_at is null group by thread_id) t
        cross join lateral lanefold.run_marks(t.thread_id, t.ids) m where m.kind <> 'waiting' group by 1, 2, 3),
      stored as (
        select m.*, (m.agent, m.agent_version) is distinct from (r.agent, r.agent_version) as of_another
        from lanefold._run_mark m join lanefold._run r on r.thread_id = m.thread_id and r.id = m.run_id
        where r.finished_at is not null and r.trace_dropped_at is null)
      select coalesce(d.thread_id, s.thread_id) as thread_id, coalesce(d.run_id, s.run_id) as run_id, coalesce(d.kind, s.kind) as kind,
             d.count, s.count as stored, d.seq, s.seq as stored_seq, s.of_another
      from derived d full join stored s on s.thread_id = d.thread_id and s.run_id = d.run_id and s.kind = d.kind
      where d.count is distinct from s.count or d.seq is distinct from s.seq or s.of_another`,
  },
];

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

/** What runs take of a limit returns or is counted, once. */
export const limits: Check[] = [
  {
    invariant: 'I5',
    name: 'nothing of a limit is held once every run has ended',
    holds: 'at_rest',
    sql: `
      select owner, name, key, kind, used, reserved, waiting, null as run_id from lanefold.limit_usage
      where reserved <> 0 or waiting <> 0 or (kind = 'concurrency' and used <> 0)
      union all
      select null, null, null, null, null, null, null, run_id from lanefold._limit_account
      union all
      select owner, name, key, null, null, null, null, run_id from lanefold._limit_wait`,
  },
];

/** A query that returns no rows while its invariant holds. */
export interface Check {
  /** Number in docs/reference/proofs.md. */
  invariant: string;
  /** The condition, as a sentence. */
  name: string;
  /** `always`: between any two commits. `at_rest`: while no run is in progress. */
  holds: 'always' | 'at_rest';
  /** Returns one row per violation, with the thread in the first column. */
  sql: string;
}

/** A row that breaks an invariant. */
export interface Violation {
  invariant: string;
  /** The condition that does not hold. */
  name: string;
  row: Record<string, unknown>;
}
