-- Returns a run to the queue until a limit or the circuit of its model lets it continue; called by the worker that holds it and was refused. The run
-- keeps its job, which the worker delays, and the claim does not count. p_limited_by: {limit, owner?, key?, until?} or {circuit, until?, error?: of the call that failed}; the row also has since. Adds
-- `run_delayed` to the trace. Returns {delayed: true, deliveries?: of webhooks are due}, {delayed: false} if another worker
-- holds the run or it has ended, or {cancel_requested: true} and writes nothing if it is to be cancelled.
create or replace function lanefold.delay_run(p_thread_id text, p_run_id text, p_lease bigint, p_limited_by jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  v_at timestamptz;
  v_due boolean := false;
begin
  t := lanefold._lock_thread(p_thread_id);
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  v_at := lanefold._now();
  if r.lease is distinct from p_lease or r.status <> 'running' then
    -- also a repeat after a lost answer: the run waits already
    return jsonb_build_object('delayed', r.lease = p_lease and r.status = 'queued' and r.limited_by is not null);
  elsif r.cancel_requested_at is not null then
    return jsonb_build_object('delayed', false, 'cancel_requested', true);
  end if;
  perform lanefold._note_run_event(p_thread_id, p_run_id, v_at, 'run_delayed', p_limited_by);
  update lanefold._run
  set status = 'queued', limited_by = p_limited_by - 'error' || jsonb_build_object('since', v_at), enqueued_at = v_at,
      ready_at = case when claims_without_progress = 0 then v_at else ready_at end, lease_until = null, worker_id = null,
      claims_without_progress = greatest(claims_without_progress - 1, 0), claims_alone = greatest(claims_alone - 1, 0)
  where thread_id = p_thread_id and id = p_run_id;
  if p_limited_by ? 'limit' then
    v_due := lanefold._note_event(p_thread_id, t.tenant_id, 'limit.exhausted', r.agent, p_run_id || ' ' || r.event_count,
      lanefold._run_data(r) || jsonb_build_object('status', 'queued', 'limited_by', p_limited_by));
  end if;
  return jsonb_build_object('delayed', true) || case when v_due then '{"deliveries": true}' else '{}' end::jsonb;
end $$;
