-- Where a lane stands, from its log: the seq of its latest replace (-1 without one), of its last message or operation, and
-- how many calls of its last assistant message no tool message answers yet.
create or replace function lanefold._lane_head(p_thread_id text, p_context_ref text)
returns table (anchor_seq bigint, last_seq bigint, open_calls int) language sql stable rows 1 as $$
  with anchor as (
    select e.seq from lanefold._entry e
    where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_context_operation' and e.is_anchor
    order by e.seq desc limit 1
  ), operation as (
    select e.seq from lanefold._entry e
    where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_context_operation' order by e.seq desc limit 1
  ), message as (
    select e.seq from lanefold._entry e
    where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_message' order by e.seq desc limit 1
  ), asked as (
    select e.seq, coalesce(jsonb_array_length(e.payload -> 'tool_calls'), 0) as calls from lanefold._entry e
    where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_message' and e.role <> 'tool'
      and e.seq > coalesce((select seq from anchor), -1)
    order by e.seq desc limit 1
  )
  select coalesce((select seq from anchor), -1), greatest((select seq from operation), (select seq from message)),
         greatest(0, coalesce((select a.calls - (
           select count(*)::int from lanefold._entry e
           where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_message' and e.seq > a.seq) from asked a), 0));
$$;
