-- Counts a claim that raised an error as one without progress and ends the run at the limit, because a run that cannot
-- be claimed must end, too. The limit is one less than for crashes: there the last claim is reserved for a worker that
-- holds no other run, which is not needed here. p: {max_claims_without_progress, error: {type, message}}. Returns
-- {counted: false} if the job is outdated or the run is no longer claimable, {counted: true, claims} if it may be
-- claimed again, or the answer of finish_run with {counted: true} if this ended the run.
create or replace function lanefold.claim_failed(p_thread_id text, p_run_id text, p_enqueue_no int, p jsonb)
returns jsonb language plpgsql as $$
declare
  r lanefold._run;
  v_end constant jsonb := jsonb_build_object('status', 'failed', 'reason', 'error', 'error', p -> 'error');
  v_ended jsonb;
  v_skipped jsonb := '[]'::jsonb;
begin
  perform lanefold._lock_thread(p_thread_id);
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if r.enqueue_no is distinct from p_enqueue_no or not (r.status = 'queued'
      or r.status = 'running' and lanefold._lease_over(r.lease_until, r.lease_ms, lanefold._now())) then
    return '{"counted": false}'::jsonb;
  end if;
  r.claims_without_progress := (r.claims_without_progress + 1)::smallint;
  if r.claims_without_progress < (p ->> 'max_claims_without_progress')::int - 1 then
    update lanefold._run set claims_without_progress = r.claims_without_progress where thread_id = p_thread_id and id = p_run_id;
    return jsonb_build_object('counted', true, 'claims', r.claims_without_progress);
  end if;
  begin
    v_ended := lanefold.finish_run(p_thread_id, p_run_id, null, v_end);
  exception when others then
    -- a transient error is no reason to drop these writes
    if sqlstate ~ '^(40|53|55P03|57|58)' then
      raise;
    end if;
    v_skipped := lanefold._skip_writes(p_thread_id, r);
    v_ended := lanefold.finish_run(p_thread_id, p_run_id, null, v_end);
  end;
  if v_skipped <> '[]' then
    update lanefold._run set error = coalesce(error, '{}') || jsonb_build_object('skipped', v_skipped)
    where thread_id = p_thread_id and id = p_run_id;
  end if;
  return v_ended || '{"counted": true}'::jsonb;
end $$;
