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
  perform lanefold._note_run_event(p_thread_id, p_run_id, v_at, 'database_restored',
    jsonb_build_object('status', r.status, 'worker_id', r.worker_id));
  update lanefold._run
  set lease = r.lease + (p ->> 'lease_gap')::int, lease_until = null, worker_id = null,
      status = case when status = 'running' then 'queued' else status end,
      enqueue_no = r.enqueue_no + 100,
      enqueued_at = case when status in ('queued', 'running') then v_at else enqueued_at end,
      ready_at = case when status = 'running' and claims_without_progress = 0 then v_at else ready_at end,
      first_event_seq = coalesce(r.first_event_seq, t.event_rev),
      agent_unknown_since = null, unknown_strategy = null, unknown_version = null, unknown_tools = null, claims_without_progress = 0
  where thread_id = p_thread_id and id = p_run_id;
  return case when r.active then lanefold._promoted(p_thread_id) else '{}' end;
end $$;
