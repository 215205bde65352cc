-- A worker has done what a wait asked for (`task`). Returns false if the wait asks for something else by now.
create or replace function lanefold.end_wait_task(p_thread_id text, p_run_id text, p_round int, p_call_index int, p_task text)
returns boolean language plpgsql as $$
begin
  update lanefold._wait set task = null
  where thread_id = p_thread_id and run_id = p_run_id and round = p_round and call_index = p_call_index and task = p_task;
  if not found then
    return false;
  end if;
  perform from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if not found then
    -- the thread was erased
    delete from lanefold._wait where thread_id = p_thread_id and run_id = p_run_id and round = p_round and call_index = p_call_index;
  end if;
  return true;
end $$;
