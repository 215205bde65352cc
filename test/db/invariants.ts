import { expect } from 'vitest';
import type { Database } from '../../src/postgres/pool.ts';

/** Statements that return a row for every breach of an invariant, in any thread of the database. */
const breaches: Record<string, string> = {
  'rev = number of entries = highest seq + 1': `
    select t.id, t.rev, count(e.seq), max(e.seq) from lanefold.thread t left join lanefold.thread_entry e on e.thread_id = t.id
    group by t.id having t.rev <> count(e.seq) or t.rev <> coalesce(max(e.seq) + 1, 0)`,
  'event_rev = number of events = highest event_seq + 1': `
    select t.id, t.event_rev, count(e.event_seq), max(e.event_seq) from lanefold.thread t left join lanefold.run_event e on e.thread_id = t.id
    group by t.id having t.event_rev <> count(e.event_seq) or t.event_rev <> coalesce(max(e.event_seq) + 1, 0)
      or count(distinct e.event_seq) <> count(e.event_seq)`,
  'a run numbers its events 1, 2, 3, …': `
    select r.thread_id, r.id from lanefold.run r left join lanefold.run_event e on e.thread_id = r.thread_id and e.run_id = r.id
    group by r.thread_id, r.id, r.event_count having count(e.seq) <> r.event_count or coalesce(max(e.seq), 0) <> r.event_count
      or count(distinct e.seq) <> r.event_count`,
  'an ended run has exactly one terminal event, of its status; another none': `
    select r.thread_id, r.id, r.status, array_agg(e.kind) from lanefold.run r left join lanefold.run_event e
      on e.thread_id = r.thread_id and e.run_id = r.id and e.kind in ('request_completed', 'request_failed', 'request_cancelled')
    group by r.thread_id, r.id, r.status, r.finished_at
    having array_remove(array_agg(e.kind), null) is distinct from
      case when r.finished_at is null then '{}' else array['request_' || r.status] end`,
  'a lane is what its messages and operations make it': `
    select f.*, l.* from (
      select e.thread_id, e.context_ref, coalesce(max(e.seq) filter (where e.is_anchor), -1) as anchor_seq, max(e.seq) as last_seq
      from lanefold.thread_entry e where e.kind in ('ai_message', 'ai_context_operation') group by 1, 2) f
    full join lanefold.lane l on l.thread_id = f.thread_id and l.context_ref = f.context_ref
    left join lateral (
      select jsonb_array_length(a.payload -> 'tool_calls') - (
        select count(*) from lanefold.thread_entry m
        where m.thread_id = f.thread_id and m.context_ref = f.context_ref and m.role = 'tool' and m.seq > a.seq) as calls
      from lanefold.thread_entry a
      where a.thread_id = f.thread_id and a.context_ref = f.context_ref and a.seq > f.anchor_seq and a.role in ('user', 'assistant')
      order by a.seq desc limit 1) o on true
    where (f.anchor_seq, f.last_seq, coalesce(o.calls, 0)) is distinct from (l.anchor_seq, l.last_seq, l.open_calls::bigint)`,
  'only a lane with an active run has open calls': `
    select * from lanefold.lane l where open_calls > 0 and not exists (
      select from lanefold._run r where r.thread_id = l.thread_id and r.context_ref = l.context_ref and r.active)`,
  'no ended run has an open tool call': `
    select c.* from lanefold._tool_call c join lanefold._run r on r.thread_id = c.thread_id and r.id = c.run_id
    where r.finished_at is not null and (c.result_seq is null or c.outcome is not null or c.status in ('pending', 'started'))`,
  'the active run of a thread is the one in an active status': `
    select t.id, t.active_run_id, r.id from lanefold.thread t full join (select * from lanefold._run where active) r on r.thread_id = t.id
    where t.active_run_id is distinct from r.id`,
  'waiting_runs counts the waiting runs, and none waits for nobody': `
    select t.id from lanefold.thread t left join lanefold._run r on r.thread_id = t.id and r.status = 'waiting'
    group by t.id having t.waiting_runs <> count(r.id) or (count(r.id) > 0 and t.active_run_id is null)`,
  'one interrupt at most waits, and only for a run that is told to end': `
    select r.thread_id, count(*) from lanefold._run r join lanefold._run a on a.thread_id = r.thread_id and a.active
    where r.status = 'waiting' and r.interrupts group by r.thread_id having count(*) > 1 or bool_or(a.cancel_requested_at is null)`,
  'a pending operation waits for an active run': `
    select t.id, o.op_id from lanefold.thread t full join (select * from lanefold.context_op where status = 'pending') o on o.thread_id = t.id
    where t.pending_op_id is distinct from o.op_id or (o.op_id is not null and t.active_run_id is null)`,
  'queued_inputs counts the queued inputs, and no ended run has any': `
    select r.thread_id, r.id from lanefold._run r left join lanefold.pending_input i on i.thread_id = r.thread_id and i.run_id = r.id and i.status = 'queued'
    group by r.thread_id, r.id having r.queued_inputs <> count(i.id) or (r.finished_at is not null and count(i.id) > 0)`,
};

const statement = Object.entries(breaches)
  .map(([name, text]) => `select '${name}' as invariant, (select json_agg(b) from (${text}) b) as breaches`)
  .join(' union all ');

/** Asserts what must hold between any two commits. */
export async function assertInvariants(db: Database): Promise<void> {
  const found = await db.query<{ breaches: unknown }>(
    'invariants',
    `select * from (${statement}) i where i.breaches is not null`,
  );
  expect(found).toEqual([]);
}
