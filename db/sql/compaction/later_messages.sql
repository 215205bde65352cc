-- The messages that a compaction carries into its anchor: those of the lane after the base of the summary, in order,
-- as messages of a result_context.
create or replace function lanefold._later_messages(p_thread_id text, p_context_ref text, p_base bigint)
returns jsonb language plpgsql stable as $$
declare
  v_messages jsonb;
begin
  select to_jsonb(array_agg(e.payload
      || jsonb_strip_nulls(jsonb_build_object('role', e.role, 'run_id', e.run_id, 'request_id', coalesce(e.request_id, e.run_id)))
      || case when e.refs is null then '{}' else jsonb_build_object('refs', e.refs) end order by e.seq))
  into v_messages from lanefold._entry e
  where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_message' and e.seq > p_base;
  return coalesce(v_messages, '[]');
end $$;
