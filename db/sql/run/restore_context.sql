-- Gives the lane of a failed run the context it had before the run. Returns false, and changes nothing, where that is too large to
-- be one entry: jsonb ends at 256 MiB.
create or replace function lanefold._restore_context(p_thread_id text, r lanefold._run)
returns boolean language plpgsql as $$
declare
  v_context jsonb;
begin
  if lanefold._lane_bytes(p_thread_id, r.context_ref, r.user_seq - 1) > 134217728 then
    return false;
  end if;
  -- the messages only: the prompt is inherited, or an agent's would be pinned against the next agent's
  v_context := lanefold._context_snapshot(p_thread_id, r.context_ref, r.user_seq - 1) - 'system_prompt';
  perform lanefold._write_operation(p_thread_id, r.id || '/restore', r.context_ref,
    jsonb_build_object('type', 'replace', 'reason', 'restore', 'result_context', v_context,
      'meta', jsonb_build_object('run_id', r.id)), null, false);
  return true;
exception when program_limit_exceeded then
  return false;
end $$;
