-- Whether a run has ended; true also for a run that does not exist, so that no client waits for it.
create or replace function lanefold.run_ended(p_thread_id text, p_run_id text)
returns boolean language plpgsql stable as $$
begin
  perform from lanefold._run where thread_id = p_thread_id and id = p_run_id and finished_at is null;
  return not found;
end $$;
