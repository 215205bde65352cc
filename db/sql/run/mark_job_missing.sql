-- Notes that a queued run has no job, because its queue cannot be reached by the process that should have added it: the next
-- sweep of its own fleet adds the job at once, as for a run forgotten long ago.
create or replace function lanefold.mark_job_missing(p_thread_id text, p_run_id text, p_enqueue_no int)
returns void language plpgsql as $$
declare
  v_enqueued_at constant timestamptz := lanefold._now() - interval '10 s';
begin
  update lanefold._run set enqueued_at = v_enqueued_at
  where thread_id = p_thread_id and id = p_run_id and enqueue_no = p_enqueue_no and status = 'queued';
end $$;
