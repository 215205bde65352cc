-- Notes that a queued run has no job, because the process that should have added it cannot reach its queue. The next
-- sweep of the run's own fleet adds the job at once, as for a job lost long ago.
create or replace function lanefold.mark_job_missing(p_thread_id text, p_run_id text, p_enqueue_no int)
returns void language plpgsql as $$
declare
  v_enqueued_at constant timestamptz := lanefold._now() - interval '10 s';
begin
  update lanefold._run set enqueued_at = v_enqueued_at
  where thread_id = p_thread_id and id = p_run_id and enqueue_no = p_enqueue_no and status = 'queued';
end $$;
