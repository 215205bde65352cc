-- Ends a run as `failed`, `expired`, because no worker started it within its time to live. Returns the answer of
-- finish_run, or null if the run is not expired or a writer holds the thread; the next sweep tries again.
create or replace function lanefold.fail_expired(p_thread_id text, p_run_id text)
returns jsonb language plpgsql as $$
declare
  v_at timestamptz;
begin
  if not lanefold._try_lock_thread(p_thread_id) then
    return null;
  end if;
  v_at := lanefold._now();
  perform from lanefold._run
  where thread_id = p_thread_id and id = p_run_id and finished_at is null and started_at is null and expires_at <= v_at;
  if not found then
    return null;
  end if;
  return lanefold._end_expired(p_thread_id, p_run_id);
end $$;
