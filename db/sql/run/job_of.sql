-- The job of a run, which the caller adds to the queue, or removes from it. PostgreSQL inlines the function.
create or replace function lanefold._job_of(r lanefold._run)
returns jsonb language sql stable parallel safe as $$
  select lanefold._job_data(r.thread_id, r.id, r.enqueue_no, r.agent)
    || jsonb_build_object('queue_shard', r.queue_shard, 'queue_prefix', r.queue_prefix);
$$;

-- What the job of a run says to the worker that takes it. PostgreSQL inlines the function.
create or replace function lanefold._job_data(p_thread_id text, p_run_id text, p_enqueue_no int, p_agent text)
returns jsonb language sql stable parallel safe as $$
  select jsonb_build_object('thread_id', p_thread_id, 'run_id', p_run_id, 'enqueue_no', p_enqueue_no, 'agent', p_agent);
$$;
