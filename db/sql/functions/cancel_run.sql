-- Asks for the end of a run. One that no worker holds ends here; a running one is told to its worker, whose terminal
-- commit then records `cancelled` whatever it brings. Twice or too late is harmless: the answer is the status.
create or replace function lanefold.cancel_run(p_thread_id text, p_run_id text, p_reason text default 'user_cancelled')
returns jsonb language plpgsql as $$
declare
  r lanefold._run;
  v_out jsonb;
begin
  perform lanefold._lock_thread(p_thread_id);
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if not found then
    perform lanefold._fail_no_run(p_thread_id, p_run_id);
  elsif r.finished_at is not null then
    return jsonb_build_object('status', r.status, 'accepted', false) || lanefold._promoted(p_thread_id);
  end if;
  update lanefold._run set cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()), cancel_reason = coalesce(cancel_reason, p_reason),
    sealed_at = coalesce(sealed_at, clock_timestamp())
  where thread_id = p_thread_id and id = p_run_id;
  if r.status = 'running' then
    -- wakes the worker up; its next renewal would tell it as well
    perform pg_notify('lanefold_cancel', p_run_id);
    return jsonb_build_object('status', 'running', 'accepted', true);
  end if;
  v_out := lanefold.finish_run(p_thread_id, p_run_id, null, '{"status": "cancelled", "reason": "cancelled"}');
  return v_out || '{"accepted": true}';
end $$;
