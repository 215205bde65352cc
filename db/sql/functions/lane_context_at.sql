-- The projection: what the model sees of a lane after the entry p_upto. Base is the lane's latest anchor, then every
-- message after it, in order, unchanged. The prompt comes first where there is one; `ordinal` counts from 0.
create or replace function lanefold.lane_context_at(p_thread_id text, p_context_ref text, p_upto bigint)
returns table (
  thread_id text, context_ref text, anchor_seq bigint, ordinal bigint, seq bigint, role text, content jsonb,
  tool_calls jsonb, tool_call_id text, name text, thinking text, reasoning_details jsonb, provider_metadata jsonb,
  run_id text, request_id text, refs jsonb
) language sql stable rows 100 as $$
  with anchor as materialized (
    select e.seq, e.payload -> 'operation' -> 'result_context' -> 'entries' as entries
    from lanefold._entry e
    where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_context_operation' and e.is_anchor and e.seq <= p_upto
    order by e.seq desc limit 1
  ), message as (
    select 0 as part, 0::bigint as pos, p.seq, 'system' as role, jsonb_build_object('content', p.prompt) as m,
           null::text as run_id, null::text as request_id, null::jsonb as refs
    from lanefold._lane_prompt(p_thread_id, p_context_ref, p_upto) p where p.prompt is not null
    union all
    select 1, x.n, a.seq, x.m ->> 'role', x.m, x.m ->> 'run_id', x.m ->> 'request_id', x.m -> 'refs'
    from anchor a cross join lateral jsonb_array_elements(a.entries) with ordinality as x (m, n)
    union all
    select 2, e.seq, e.seq, e.role, e.payload, e.run_id, coalesce(e.request_id, e.run_id), e.refs
    from lanefold._entry e
    where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_message'
      and e.seq > coalesce((select a.seq from anchor a), -1) and e.seq <= p_upto
  )
  select p_thread_id, p_context_ref, coalesce((select a.seq from anchor a), -1),
         row_number() over (order by part, pos) - 1, m.seq, m.role,
         coalesce(nullif(m.m -> 'content', 'null'), '""'), nullif(nullif(m.m -> 'tool_calls', 'null'), '[]'),
         m.m ->> 'tool_call_id', m.m ->> 'name', m.m ->> 'thinking', nullif(m.m -> 'reasoning_details', 'null'),
         nullif(m.m -> 'provider_metadata', 'null'), m.run_id, m.request_id, nullif(nullif(m.refs, 'null'), '{}')
  from message m
  order by part, pos;
$$;
