-- The active run of a thread where no worker has it yet, as {promoted: {thread_id, run_id, agent, enqueue_no, queue_shard,
-- queue_prefix}}, else {}. Its job may be added any number of times, so whoever missed an answer gets it again.
create or replace function lanefold._promoted(p_thread_id text)
returns jsonb language plpgsql stable as $$
declare
  r record;
begin
  select k.id, k.agent, k.enqueue_no, k.queue_shard, k.queue_prefix into r
  from lanefold._run k where k.thread_id = p_thread_id and k.active and k.status = 'queued';
  if not found then
    return '{}'::jsonb;
  end if;
  return jsonb_build_object('promoted', jsonb_build_object('thread_id', p_thread_id, 'run_id', r.id, 'agent', r.agent,
    'enqueue_no', r.enqueue_no, 'queue_shard', r.queue_shard, 'queue_prefix', r.queue_prefix));
end $$;
