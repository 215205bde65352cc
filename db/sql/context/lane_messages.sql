-- The messages of a lane as of p_upto without its prompt: the messages of the latest anchor, then every later message,
-- in order and unchanged. `ordinal` counts from 0.
create or replace function lanefold._lane_messages(p_thread_id text, p_context_ref text, p_upto bigint)
returns table (
  anchor_seq bigint, ordinal bigint, seq bigint, role text, content jsonb, tool_calls jsonb, tool_call_id text, name text,
  thinking text, reasoning_details jsonb, provider_metadata jsonb, run_id text, request_id text, refs jsonb
) language plpgsql stable rows 100 as $$
declare
  v_entries jsonb;  -- of the anchor
begin
  select e.seq, e.payload -> 'operation' -> 'result_context' -> 'entries' into anchor_seq, v_entries
  from lanefold._entry e
  where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_context_operation' and e.is_anchor
    and e.seq <= p_upto
  order by e.seq desc limit 1;
  anchor_seq := coalesce(anchor_seq, -1);

  if v_entries is not null then
    return query
    select anchor_seq, x.n - 1, anchor_seq, x.m ->> 'role',
           coalesce(nullif(x.m -> 'content', 'null'), '""'), nullif(nullif(x.m -> 'tool_calls', 'null'), '[]'),
           x.m ->> 'tool_call_id', x.m ->> 'name', x.m ->> 'thinking', nullif(x.m -> 'reasoning_details', 'null'),
           nullif(x.m -> 'provider_metadata', 'null'), x.m ->> 'run_id', x.m ->> 'request_id',
           nullif(nullif(x.m -> 'refs', 'null'), '{}')
    from jsonb_array_elements(v_entries) with ordinality as x (m, n);
  end if;

  return query
  select anchor_seq, coalesce(jsonb_array_length(v_entries), 0) + row_number() over (order by e.seq) - 1, e.seq, e.role,
         coalesce(nullif(e.payload -> 'content', 'null'), '""'), nullif(nullif(e.payload -> 'tool_calls', 'null'), '[]'),
         e.payload ->> 'tool_call_id', e.payload ->> 'name', e.payload ->> 'thinking',
         nullif(e.payload -> 'reasoning_details', 'null'), nullif(e.payload -> 'provider_metadata', 'null'),
         e.run_id, coalesce(e.request_id, e.run_id), nullif(nullif(e.refs, 'null'), '{}')
  from lanefold._entry e
  where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_message'
    and e.seq > anchor_seq and e.seq <= p_upto
  order by e.seq;
end $$;
