-- The configuration of a lane as of an entry: for each field (system_prompt, tools, tool_context, policy) the latest
-- change, by seq, of the lane or of the whole thread. Prompts of anchors are not included: see lane_context_at.
create or replace function lanefold.lane_config_at(p_thread_id text, p_context_ref text, p_upto bigint)
returns table (field text, value jsonb, seq bigint) language plpgsql stable rows 4 as $$
begin
  return query
  select distinct on (e.payload ->> 'field') e.payload ->> 'field', e.payload -> 'value', e.seq
  from lanefold._entry e
  where e.thread_id = p_thread_id and (e.context_ref = p_context_ref or e.context_ref is null) and e.kind = 'ai_config_change'
    and e.seq <= p_upto
  order by e.payload ->> 'field', e.seq desc;
end $$;
