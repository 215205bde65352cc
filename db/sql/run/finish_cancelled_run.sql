-- Ends a cancelled run that did not stop in time, without its worker. Returns the answer of finish_run, or null if a
-- writer holds the thread; the next sweep tries again.
create or replace function lanefold.finish_cancelled_run(p_thread_id text, p_run_id text)
returns jsonb language plpgsql as $$
begin
  if not lanefold._try_lock_thread(p_thread_id) then
    return null;
  end if;
  return lanefold.finish_run(p_thread_id, p_run_id, null, '{"status": "cancelled", "reason": "cancelled"}');
end $$;
