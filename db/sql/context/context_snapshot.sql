-- The context of a lane as of p_upto as a result_context: {system_prompt?, entries}. If the lane has no prompt, the
-- key is absent, so that an anchor made from it inherits the prompt.
create or replace function lanefold._context_snapshot(p_thread_id text, p_context_ref text, p_upto bigint)
returns jsonb language plpgsql stable as $$
declare
  v_prompt jsonb;
  v_entries jsonb;
begin
  select jsonb_build_object('system_prompt', p.prompt) into v_prompt from lanefold._lane_prompt(p_thread_id, p_context_ref, p_upto) p;
  select to_jsonb(array_agg(jsonb_build_object('role', c.role, 'content', c.content)
      || jsonb_strip_nulls(jsonb_build_object('tool_call_id', c.tool_call_id, 'name', c.name, 'thinking', c.thinking,
           'run_id', c.run_id, 'request_id', c.request_id))
      || case when c.tool_calls is null then '{}' else jsonb_build_object('tool_calls', c.tool_calls) end
      || case when c.reasoning_details is null then '{}' else jsonb_build_object('reasoning_details', c.reasoning_details) end
      || case when c.provider_metadata is null then '{}' else jsonb_build_object('provider_metadata', c.provider_metadata) end
      || case when c.refs is null then '{}' else jsonb_build_object('refs', c.refs) end order by c.ordinal))
  into v_entries from lanefold.lane_context_at(p_thread_id, p_context_ref, p_upto) c where c.role <> 'system';
  return coalesce(v_prompt, '{}') || jsonb_build_object('entries', coalesce(v_entries, '[]'));
end $$;
