-- The job of a run, which the caller adds to the queue. PostgreSQL inlines the function.
create or replace function lanefold._job_of(r lanefold._run)
returns jsonb language sql stable parallel safe as $$
  select jsonb_build_object('thread_id', r.thread_id, 'run_id', r.id, 'agent', r.agent, 'enqueue_no', r.enqueue_no,
    'queue_shard', r.queue_shard, 'queue_prefix', r.queue_prefix);
$$;
