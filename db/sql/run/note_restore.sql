-- After a restore from a backup, what an unfinished run did after that backup is unknown. Raises the run's lease, so that
-- a worker which still holds it is rejected; adds `database_restored` to its trace; and queues it again under an enqueue_no
-- beyond those of jobs that a queue may still have. p: {lease_gap, prefix}. Returns {promoted: the job to add}, as
-- `_promoted` does; {} if the run waits for something else; null if it has ended or belongs to another queue.
create or replace function lanefold.note_restore(p_thread_id text, p_run_id text, p jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  v_at timestamptz;
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
  update lanefold._run
  set lease = r.lease + (p ->> 'lease_gap')::int, lease_until = null, worker_id = null,
      status = case when status = 'running' then 'queued' else status end,
      enqueue_no = r.enqueue_no + 100,
      enqueued_at = case when status in ('queued', 'running') then v_at else enqueued_at end,
      ready_at = case when status = 'running' and claims_without_progress = 0 then v_at else ready_at end,
      first_event_seq = coalesce(r.first_event_seq, t.event_rev), event_count = r.event_count + 1,
      agent_unknown_since = null, unknown_strategy = null, unknown_version = null, unknown_tools = null, claims_without_progress = 0
  where thread_id = p_thread_id and id = p_run_id;
  return case when r.active then lanefold._promoted(p_thread_id) else '{}' end;
end $$;
