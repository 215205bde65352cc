-- Notes that a worker took the job of a queued run and does not know the run's agent. Returns true where a worker that knows it
-- may still come: the job ends, and the next sweep adds another. False where p_patience_ms have passed since the first such
-- worker, by the database's clock, or where the run is not queued under p_enqueue_no: the claim says what becomes of it.
create or replace function lanefold.pass_run_on(p_thread_id text, p_run_id text, p_enqueue_no int, p_patience_ms int)
returns boolean language plpgsql as $$
declare
  v_since timestamptz;
  v_at timestamptz;
begin
  perform lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  select coalesce(agent_unknown_since, v_at) into v_since from lanefold._run
  where thread_id = p_thread_id and id = p_run_id and enqueue_no = p_enqueue_no and status = 'queued';
  if not found or v_since < v_at - p_patience_ms * interval '1 ms' then
    return false;
  end if;
  update lanefold._run set agent_unknown_since = v_since, enqueued_at = v_at where thread_id = p_thread_id and id = p_run_id;
  return true;
end $$;
