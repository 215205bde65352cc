-- The thread's active run where no worker has it yet, as {promoted: {thread_id, run_id, agent, enqueue_no, queue_shard,
-- queue_prefix}}, else {}. Its job may be added any number of times: so who has missed an answer is told again.
create or replace function lanefold._promoted(p_thread_id text)
returns jsonb language sql stable as $$
  select coalesce((
    select jsonb_build_object('promoted', jsonb_build_object('thread_id', r.thread_id, 'run_id', r.id, 'agent', r.agent,
      'enqueue_no', r.enqueue_no, 'queue_shard', r.queue_shard, 'queue_prefix', r.queue_prefix))
    from lanefold._run r where r.thread_id = p_thread_id and r.active and r.status = 'queued'), '{}');
$$;
