import type { Check } from './check.ts';

/** Every assistant message with tool calls is followed in its lane by one tool message per call, in call order. */
export const closedGroups: Check[] = [
  {
    invariant: 'I4',
    name: 'every tool call has its result, and every result its call',
    holds: 'always',
    sql: `
      with message as materialized (
        select thread_id, context_ref, seq, role, payload, row_number() over (partition by thread_id, context_ref order by seq) as n
        from lanefold.thread_entry where kind = 'ai_message'
      ), call as materialized (
        select m.thread_id, m.context_ref, m.seq, m.n + c.k as n, c.call ->> 'id' as id from message m
        cross join lateral jsonb_array_elements(m.payload -> 'tool_calls') with ordinality as c (call, k) where m.role = 'assistant'
      )
      select coalesce(c.thread_id, m.thread_id) as thread_id, coalesce(c.context_ref, m.context_ref) as context_ref,
             c.seq as asked_at, c.id as tool_call_id, m.seq as found_at, m.role as found
      from call c full join message m on m.thread_id = c.thread_id and m.context_ref = c.context_ref and m.n = c.n
      left join lanefold._run r on m.n is null and r.thread_id = c.thread_id and r.active
        and (r.context_ref = c.context_ref or starts_with(c.context_ref, r.id || '.'))
      where case
        when c.n is null then m.role = 'tool'
        when m.n is null then r.id is null
        else m.role <> 'tool' or m.payload ->> 'tool_call_id' is distinct from c.id
      end`,
  },
  {
    invariant: 'I4',
    name: 'an anchor contains only closed groups',
    holds: 'always',
    sql: `
      select thread_id, seq, lanefold._messages_problem(payload -> 'operation' -> 'result_context' -> 'entries') as problem
      from lanefold.thread_entry
      where is_anchor and lanefold._messages_problem(payload -> 'operation' -> 'result_context' -> 'entries') is not null`,
  },
  {
    invariant: 'I4',
    name: 'a lane matches its messages and operations',
    holds: 'always',
    sql: `
      select coalesce(f.thread_id, l.thread_id) as thread_id, to_jsonb(f) as by_log, to_jsonb(l) as by_lane from (
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
  },
  {
    invariant: 'I4',
    name: 'only a lane with an active run has open calls',
    holds: 'always',
    sql: `
      select * from lanefold.lane l where open_calls > 0 and not exists (
        select from lanefold._run r where r.thread_id = l.thread_id and r.context_ref = l.context_ref and r.active)`,
  },
  {
    invariant: 'I4',
    name: 'no ended run has an open tool call',
    holds: 'always',
    sql: `
      select c.thread_id, c.run_id, c.round, c.call_index, c.status from lanefold._tool_call c
      join lanefold._run r on r.thread_id = c.thread_id and r.id = c.run_id
      where r.finished_at is not null and (c.result_seq is null or c.outcome is not null or c.status in ('pending', 'started', 'awaiting_approval'))`,
  },
];
