-- The state of each lane: its anchor, its last message or operation, and how many calls of its last assistant message
-- have no tool message yet. Reading one lane takes a few index probes, however long the thread is.
create or replace view lanefold.lane as
select l.thread_id, l.context_ref, coalesce(anchor.seq, -1) as anchor_seq, greatest(operation.seq, message.seq) as last_seq,
       greatest(0, coalesce(asked.calls - answered.results, 0)) as open_calls, l.tenant_id
from lanefold._lane l
left join lateral (
  select e.seq from lanefold._entry e
  where e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.kind = 'ai_context_operation' and e.is_anchor
  order by e.seq desc limit 1
) anchor on true
left join lateral (
  select e.seq from lanefold._entry e
  where e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.kind = 'ai_context_operation'
  order by e.seq desc limit 1
) operation on true
left join lateral (
  select e.seq from lanefold._entry e
  where e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.kind = 'ai_message'
  order by e.seq desc limit 1
) message on true
left join lateral (
  select e.seq, coalesce(jsonb_array_length(e.payload -> 'tool_calls'), 0) as calls from lanefold._entry e
  where e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.kind = 'ai_message' and e.role <> 'tool'
    and e.seq > case when anchor.seq is null then -1 else anchor.seq end
  order by e.seq desc limit 1
) asked on true
left join lateral (
  select count(*)::int as results from lanefold._entry e
  where e.thread_id = l.thread_id and e.context_ref = l.context_ref and e.kind = 'ai_message' and e.seq > asked.seq
) answered on true;
