-- Restores the lane of a failed run to its context before the run. Returns false and changes nothing if that context
-- is too large for one entry: jsonb is limited to 256 MiB.
create or replace function lanefold._restore_context(p_thread_id text, r lanefold._run)
returns boolean language plpgsql as $$
declare
  v_context jsonb;
  -- a run that answers a question of another one has written no question
  v_first constant bigint := coalesce(r.user_seq, (select e.seq from lanefold._entry e
    where e.thread_id = p_thread_id and e.context_ref = r.context_ref and e.kind = 'ai_message' and e.run_id = r.id
    order by e.seq limit 1));
begin
  if v_first is null then
    return true;
  end if;
  if lanefold._lane_bytes(p_thread_id, r.context_ref, v_first - 1) > 134217728 then
    return false;
  end if;
  -- only the messages: a prompt in the anchor would keep the next agent from replacing this agent's prompt
  v_context := lanefold._context_snapshot(p_thread_id, r.context_ref, v_first - 1) - 'system_prompt';
  perform lanefold._write_operation(p_thread_id, 'restore/' || r.id, r.context_ref,
    jsonb_build_object('type', 'replace', 'reason', 'restore', 'result_context', v_context,
      'meta', jsonb_build_object('run_id', r.id)), null, false);
  return true;
exception when program_limit_exceeded then
  return false;
end $$;
