-- The active run of a thread if no worker holds it yet, as {promoted: {thread_id, run_id, agent, enqueue_no,
-- queue_shard, queue_prefix, priority?, delay_ms?: until it may start}}, else {}. Its job may be added any number of
-- times, so a caller that missed an answer gets it again.
create or replace function lanefold._promoted(p_thread_id text)
returns jsonb language plpgsql stable as $$
declare
  r record;
  v_at constant timestamptz := lanefold._now();
begin
  select k.id, k.agent, k.enqueue_no, k.queue_shard, k.queue_prefix, k.started_at is null as is_new,
         k.options -> 'priority' as priority, k.start_at into r
  from lanefold._run k where k.thread_id = p_thread_id and k.active and k.status = 'queued';
  if not found then
    return '{}'::jsonb;
  end if;
  return jsonb_build_object('promoted', jsonb_build_object('thread_id', p_thread_id, 'run_id', r.id, 'agent', r.agent,
    'enqueue_no', r.enqueue_no, 'queue_shard', r.queue_shard, 'queue_prefix', r.queue_prefix)
    -- a run that has started before gets no priority: it already had its turn
    || case when r.is_new and r.priority is not null then jsonb_build_object('priority', r.priority) else '{}' end
    || case when r.start_at > v_at then jsonb_build_object('delay_ms', lanefold._ms_between(v_at, r.start_at)) else '{}' end);
end $$;
