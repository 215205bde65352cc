-- Notes for what a queued run waits that nobody has claimed yet; called by the process that accepted it, after a limit put
-- the run in line. p_waiting_for is as in delay_run. Adds `run_delayed` to the trace. Returns whether the run waits: a claim
-- at the same time wins.
create or replace function lanefold.await_limit(p_thread_id text, p_run_id text, p_enqueue_no int, p_waiting_for jsonb)
returns boolean language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  v_at timestamptz;
begin
  t := lanefold._lock_thread(p_thread_id);
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if r.status is distinct from 'queued' or r.enqueue_no <> p_enqueue_no or r.started_at is not null then
    return false;
  elsif r.waiting_for is not null then
    -- a repeat after a lost answer
    return true;
  end if;
  v_at := lanefold._now();
  insert into lanefold._event_batch (thread_id, tenant_id, event_seq, run_id, seq, at, entry_seq, events)
  values (p_thread_id, t.tenant_id, t.event_rev, p_run_id, r.event_count + 1, v_at, t.rev,
    json_build_array(json_build_object('k', 'run_delayed', 'i', r.iteration, 'd', p_waiting_for)));
  update lanefold._run
  set waiting_for = p_waiting_for || jsonb_build_object('since', v_at), event_count = event_count + 1
  where thread_id = p_thread_id and id = p_run_id;
  update lanefold.thread set event_rev = event_rev + 1, updated_at = v_at where id = p_thread_id;
  return true;
end $$;
