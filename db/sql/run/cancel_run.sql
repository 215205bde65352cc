-- Cancels a run. A run that no worker holds ends here; a running one is left to its worker, whose terminal commit
-- records `cancelled` whatever its outcome. Repeating it, or calling it after the end, has no effect. Returns {status,
-- accepted, finished?, promoted?, waited?: for a limit}. Raises LF011.
create or replace function lanefold.cancel_run(p_thread_id text, p_run_id text, p_reason text default 'user_cancelled')
returns jsonb language plpgsql as $$
declare
  r lanefold._run;
  v_at timestamptz;
  v_out jsonb;
begin
  perform lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if not found then
    perform lanefold._fail_no_run(p_thread_id, p_run_id);
  elsif r.finished_at is not null then
    return jsonb_build_object('status', r.status, 'accepted', false) || lanefold._promoted(p_thread_id);
  end if;
  update lanefold._run
  set cancel_requested_at = coalesce(cancel_requested_at, v_at), cancel_reason = coalesce(cancel_reason, p_reason),
      sealed_at = coalesce(sealed_at, v_at)
  where thread_id = p_thread_id and id = p_run_id;
  if r.status = 'running' then
    -- Notifies the worker that holds the run before its next lease renewal would tell it. Sends a hash of the ids,
    -- because any role may listen and ids may identify a person.
    perform pg_notify('lanefold_cancel', left(encode(sha256(convert_to(p_thread_id || ' ' || p_run_id, 'UTF8')), 'hex'), 32));
    return jsonb_build_object('status', 'running', 'accepted', true);
  end if;
  v_out := lanefold.finish_run(p_thread_id, p_run_id, null, '{"status": "cancelled", "reason": "cancelled"}');
  return v_out || '{"accepted": true}';
end $$;
