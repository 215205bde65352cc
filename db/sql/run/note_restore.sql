-- After the database was restored from a backup: what an unfinished run did after that backup is unknown here. Raises its
-- lease, so that a worker which still holds it is refused, notes the restoration in its trace, and queues it again under an
-- enqueue_no that no job has which a queue may still know. p: {lease_gap, prefix}. Returns the job to add: {thread_id, run_id, agent, enqueue_no, queue_shard,
-- priority?}; {} if the run waits for something else; null if it has ended or is of another queue.
create or replace function lanefold.note_restore(p_thread_id text, p_run_id text, p jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  v_at timestamptz;
  v_queued boolean;
begin
  t := lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  select * into r from lanefold._run
  where thread_id = p_thread_id and id = p_run_id and finished_at is null and queue_prefix = p ->> 'prefix';
  if not found then
    return null;
  end if;
  insert into lanefold._event_batch (thread_id, tenant_id, event_seq, run_id, seq, at, entry_seq, events)
  values (p_thread_id, t.tenant_id, t.event_rev, p_run_id, r.event_count + 1, v_at, t.rev,
    json_build_array(json_build_object('k', 'database_restored', 'i', r.iteration,
      'd', jsonb_build_object('status', r.status, 'worker_id', r.worker_id))));
  update lanefold.thread set event_rev = event_rev + 1, updated_at = v_at where id = p_thread_id;
  v_queued := r.status in ('queued', 'running');
  update lanefold._run
  set lease = r.lease + (p ->> 'lease_gap')::int, lease_until = null, worker_id = null,
      status = case when v_queued then 'queued' else r.status end,
      enqueue_no = r.enqueue_no + 100, enqueued_at = case when v_queued then v_at else r.enqueued_at end,
      first_event_seq = coalesce(r.first_event_seq, t.event_rev), event_count = r.event_count + 1,
      agent_unknown_since = null, unknown_strategy = null, unknown_version = null, claims_without_progress = 0
  where thread_id = p_thread_id and id = p_run_id;
  if not v_queued then
    return '{}'::jsonb;
  end if;
  return jsonb_build_object('thread_id', p_thread_id, 'run_id', p_run_id, 'agent', r.agent,
    'enqueue_no', r.enqueue_no + 100, 'queue_shard', r.queue_shard)
    || case when r.started_at is null and r.options ? 'priority' then jsonb_build_object('priority', r.options -> 'priority') else '{}' end;
end $$;
