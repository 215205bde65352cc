-- Changes the configuration of a lane, or of the whole thread where p_context_ref is null, from the next run on: written
-- at once on an idle thread, after the end of the active run otherwise. p_changes: [{field, value}].
-- Returns {status: applied|deferred, first_seq?}.
create or replace function lanefold.change_config(p_thread_id text, p_context_ref text, p_changes jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
begin
  if p_context_ref is not null then
    perform lanefold._check_id(p_context_ref, 'context_ref');
  end if;
  t := lanefold._lock_thread(p_thread_id);
  if t.active_run_id is null then
    return jsonb_build_object('status', 'applied', 'first_seq', lanefold._write_config(p_thread_id, p_context_ref, p_changes));
  end if;
  update lanefold.thread
  set pending_config = coalesce(pending_config, '[]') || jsonb_build_array(jsonb_build_object('context_ref', p_context_ref, 'changes', p_changes))
  where id = p_thread_id;
  return jsonb_build_object('status', 'deferred');
end $$;
