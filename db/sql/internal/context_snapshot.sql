-- The context of a lane as of p_upto in the form of an anchor: {system_prompt?, entries}. A lane without any prompt
-- leaves the key out, so that the anchor inherits.
create or replace function lanefold._context_snapshot(p_thread_id text, p_context_ref text, p_upto bigint)
returns jsonb language sql stable as $$
  select coalesce((select jsonb_build_object('system_prompt', p.prompt) from lanefold._lane_prompt(p_thread_id, p_context_ref, p_upto) p), '{}')
      || jsonb_build_object('entries', coalesce((
           select jsonb_agg(jsonb_build_object('role', role, 'content', content) || jsonb_strip_nulls(jsonb_build_object('tool_call_id', tool_call_id,
             'name', name, 'thinking', thinking, 'run_id', run_id, 'request_id', request_id))
             || case when tool_calls is null then '{}' else jsonb_build_object('tool_calls', tool_calls) end
             || case when reasoning_details is null then '{}' else jsonb_build_object('reasoning_details', reasoning_details) end
             || case when provider_metadata is null then '{}' else jsonb_build_object('provider_metadata', provider_metadata) end
             || case when refs is null then '{}' else jsonb_build_object('refs', refs) end order by ordinal)
           from lanefold.lane_context_at(p_thread_id, p_context_ref, p_upto) where role <> 'system'), '[]'));
$$;
