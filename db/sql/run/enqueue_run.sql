-- Accepts a run.
-- p: {run_id, request_id, request_hash, agent, strategy, model, context_ref?, input, options?, busy:
-- reject|wait|interrupt, create_thread?, tenant_id?, queue_prefix?, queue_shard?, job_queue?, max_context_bytes?,
-- contents?: large texts of the input, see _store_contents, traceparent?, delay_ms?: no worker starts the run before,
-- ttl_ms?: how long after that a worker may start it}. options.priority: of the job, as in BullMQ.
-- With job_queue, the name of a BullMQ queue in this database, the job is added in the same transaction; otherwise the
-- caller adds the job of a `queued` run. Without context_ref the run is on the thread's active lane. Repeating a
-- request_id with the same hash returns the same run, before `busy` is considered. An interrupt ends earlier
-- interrupts that have not started as superseded, cancels the active run and starts next, at once if no worker holds
-- that run.
-- Returns {run_id, status, enqueue_no, queue_shard, duplicate}. Raises LF004 busy, LF007 another body under the
-- request_id, LF016 bad id, LF023 context too large.
create or replace function lanefold.enqueue_run(p_thread_id text, p jsonb)
returns jsonb language plpgsql
-- another transaction may have inserted the thread without having committed
set lock_timeout = '2s' as $$
begin
  return lanefold._accept_run(p_thread_id, lanefold._await_thread(p_thread_id), p);
end $$;
