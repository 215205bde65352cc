-- Adds one event to the trace of a run that continues, and counts it. The caller holds the lock of the thread; the counters in a
-- row that it read before are then behind.
create or replace function lanefold._note_run_event(p_thread_id text, p_run_id text, p_at timestamptz, p_kind text, p_data jsonb)
returns void language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  b lanefold._event_batch;
  v_events jsonb;
begin
  update lanefold.thread set event_rev = event_rev + 1, updated_at = p_at where id = p_thread_id returning * into t;
  update lanefold._run set event_count = event_count + 1 where thread_id = p_thread_id and id = p_run_id returning * into r;
  v_events := jsonb_build_array(jsonb_build_object('k', p_kind, 'i', r.iteration, 'd', p_data));
  b := lanefold._event_batch_of(p_thread_id, t.tenant_id, t.event_rev - 1, p_run_id, r.event_count, p_at, t.rev, v_events);
  insert into lanefold._event_batch values (b.*);
  if lanefold._is_notable(v_events) then
    perform lanefold._note_marks(p_thread_id, p_run_id);
  end if;
end $$;
