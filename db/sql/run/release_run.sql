-- Returns a run to the queue; called by a worker that holds the run and will not continue it. The run is queued again
-- under a new enqueue_no, so the next worker need not wait for the lease to expire. If the worker is p_stopping, its
-- claim does not count as one without progress, because nothing crashed. Returns the job to add; no row if another
-- worker holds the lease or the run has ended.
create or replace function lanefold.release_run(p_thread_id text, p_run_id text, p_lease bigint, p_stopping boolean)
returns table (thread_id text, run_id text, agent text, enqueue_no int, queue_shard smallint) language plpgsql as $$
declare
  v_at timestamptz;
begin
  perform lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  return query
    update lanefold._run r
    set status = 'queued', enqueue_no = r.enqueue_no + 1, enqueued_at = v_at, 
        ready_at = case when r.claims_without_progress = 0 then v_at else r.ready_at end, lease_until = null, agent_unknown_since = null,
        claims_without_progress = greatest(r.claims_without_progress - p_stopping::int, 0), claims_alone = greatest(r.claims_alone - p_stopping::int, 0)
    where r.thread_id = p_thread_id and r.id = p_run_id and r.lease = p_lease and r.status = 'running'
    returning r.thread_id, r.id, r.agent, r.enqueue_no, r.queue_shard;
end $$;
