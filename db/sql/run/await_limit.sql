-- Notes for what a queued run waits that no worker has claimed yet; called by the process that accepted it, after a limit put
-- the run in line. p_limited_by is as in delay_run. Returns {waits: boolean, deliveries?: of webhooks are
-- due}. Does not lock the thread: a claim at the same time wins, because it forgets what the run waited for.
create or replace function lanefold.await_limit(p_thread_id text, p_run_id text, p_enqueue_no int, p_limited_by jsonb)
returns jsonb language plpgsql as $$
declare
  r lanefold._run;
  v_due boolean;
  v_limited_by constant jsonb := p_limited_by || jsonb_build_object('since', lanefold._now());
begin
  update lanefold._run
  set limited_by = v_limited_by
  where thread_id = p_thread_id and id = p_run_id and enqueue_no = p_enqueue_no and status = 'queued' and started_at is null
  returning * into r;
  if r.id is null then
    return '{"waits": false}'::jsonb;
  end if;
  v_due := lanefold._note_event(p_thread_id, r.tenant_id, 'limit.exhausted', r.agent, p_run_id || ' queued ' || p_enqueue_no,
    lanefold._run_data(r) || jsonb_build_object('limited_by', p_limited_by));
  return jsonb_build_object('waits', true) || case when v_due then '{"deliveries": true}' else '{}' end::jsonb;
end $$;
