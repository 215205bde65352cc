-- Notes that a worker took the job of a run without knowing the agent, and notifies workers that know it on the
-- channel lanefold_agent. From now on the job of the run is in the queue of its agent. Returns true if the caller has
-- to add it there. Returns false if p_patience_ms (null: no limit) have passed since a worker that knows the agent was
-- last seen, or if the run needs no job under p_enqueue_no: it has another one, has ended, or a worker holds it.
create or replace function lanefold.move_run(p_thread_id text, p_run_id text, p_enqueue_no int, p_patience_ms int)
returns boolean language plpgsql as $$
declare
  r lanefold._run;
  v_at timestamptz;
begin
  perform lanefold._lock_thread(p_thread_id);
  v_at := lanefold._now();
  select * into r from lanefold._run
  where thread_id = p_thread_id and id = p_run_id and enqueue_no = p_enqueue_no
    and (status = 'queued' or status = 'running' and lanefold._lease_over(lease_until, lease_ms, v_at));
  if not found or r.agent_unknown_since < v_at - p_patience_ms * interval '1 ms' then
    return false;
  end if;
  perform lanefold._move_run(p_thread_id, r, null, null, v_at);
  return true;
end $$;

-- Notes that a worker lacks the agent of a run, or its given version or strategy, and notifies workers that have all on the
-- channel lanefold_agent. From now on the job of the run is in the queue that _agent_queue names. The caller holds the
-- lock of the thread and has the row `r`.
create or replace function lanefold._move_run(
  p_thread_id text, r lanefold._run, p_unknown_version text, p_unknown_strategy text, p_at timestamptz
) returns void language plpgsql as $$
begin
  update lanefold._run
  set agent_unknown_since = coalesce(r.agent_unknown_since, p_at), unknown_version = p_unknown_version,
      unknown_strategy = p_unknown_strategy, enqueued_at = p_at
  where thread_id = p_thread_id and id = r.id;
  -- neither prefixes nor names of agents and strategies contain a space
  perform pg_notify('lanefold_agent', r.queue_prefix || ' ' ||
    lanefold._agent_queue(r.agent, p_unknown_version, p_unknown_strategy));
end $$;
