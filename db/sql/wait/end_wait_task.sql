-- A worker has done what a wait asked for (`task`). Returns false if the wait asks for something else by now.
create or replace function lanefold.end_wait_task(p_thread_id text, p_run_id text, p_round int, p_call_index int, p_task text)
returns boolean language plpgsql as $$
begin
  update lanefold._wait set task = null
  where thread_id = p_thread_id and run_id = p_run_id and round = p_round and call_index = p_call_index and task = p_task;
  return found;
end $$;
