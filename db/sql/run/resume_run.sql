-- Resumes an unfinished run that no worker holds, at the step of a checkpoint. A run whose worker is lost gets a new
-- enqueue_no under the rules of the sweep: not within 5 s of the last one, and not within five minutes for another
-- queue. A queued run keeps its job; a run that waits for its turn or for approval continues by itself; a run that
-- completed or failed is left unchanged. Returns {status, job?: see _job_of, priority?}; the caller adds the job. Raises LF011, LF017 for a stale checkpoint or a cancelled run, LF018 while a
-- worker holds the run.
create or replace function lanefold.resume_run(p_thread_id text, p_run_id text, p_step int, p_prefix text)
returns jsonb language plpgsql as $$
declare
  r lanefold._run;
  v_at timestamptz;
begin
  perform lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if not found then
    perform lanefold._fail_no_run(p_thread_id, p_run_id);
  elsif r.cancel_requested_at is not null or r.status = 'cancelled' then
    perform lanefold._fail('LF017', format('Run %s was cancelled, so its checkpoints no longer work.', p_run_id), 'Start a new run.');
  elsif r.finished_at is not null then
    return jsonb_build_object('status', r.status);
  elsif r.status = 'running' and not lanefold._lease_over(r.lease_until, r.lease_ms, v_at) then
    perform lanefold._fail('LF018', format('Run %s is running.', p_run_id), 'Wait for it to end, or steer it.');
  elsif r.step <> p_step then
    perform lanefold._fail('LF017', format('Run %s is at step %s, but the checkpoint is at step %s.', p_run_id, r.step, p_step),
      'Create a new checkpoint, or wait: an unfinished run continues by itself.');
  elsif r.status = 'running' and abs(extract(epoch from v_at - r.enqueued_at)) > 5
    and (r.queue_prefix = p_prefix or lanefold._lease_over(r.lease_until, r.lease_ms, v_at, 300000)) then
    update lanefold._run set enqueue_no = enqueue_no + 1, enqueued_at = v_at, queue_prefix = p_prefix,
      agent_unknown_since = null
    where thread_id = p_thread_id and id = p_run_id;
    r.enqueue_no := r.enqueue_no + 1;
  elsif r.status <> 'queued' or r.queue_prefix <> p_prefix then
    return jsonb_build_object('status', r.status);
  end if;
  return jsonb_build_object('status', r.status, 'job', lanefold._job_of(r)
    || case when r.started_at is null and r.options ? 'priority' then jsonb_build_object('priority', r.options -> 'priority') else '{}' end);
end $$;
