-- Ends a cancelled run that did not stop in time, without its worker. Returns what finish_run does, or null where a writer
-- holds the thread: the next sweep will try again.
create or replace function lanefold.finish_cancelled_run(p_thread_id text, p_run_id text)
returns jsonb language plpgsql as $$
begin
  if not lanefold._try_lock_thread(p_thread_id) then
    return null;
  end if;
  return lanefold.finish_run(p_thread_id, p_run_id, null, '{"status": "cancelled", "reason": "cancelled"}');
end $$;
