-- After a wait of a run has begun or ended: a suspended run continues once none of its waits is open, under a new
-- enqueue_no; until then, it notes when the next one ends by itself. p_prefix: of the queue the caller adds the job to.
-- The caller holds the lock of the thread. Returns {status: of the run, job?: {thread_id, run_id, agent, enqueue_no,
-- queue_shard, queue_prefix}}.
create or replace function lanefold._resume_if_ready(p_thread_id text, p_run_id text, p_prefix text, p_at timestamptz)
returns jsonb language plpgsql as $$
declare
  r lanefold._run;
  v_open bigint;
  v_until timestamptz;
  v_forgotten timestamptz;
begin
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if r.status is distinct from 'suspended' then
    return jsonb_build_object('status', r.status);
  end if;
  select count(*), min(w.until) into v_open, v_until from lanefold._wait w
  where w.thread_id = p_thread_id and w.run_id = p_run_id and w.status = 'open';
  if v_open > 0 then
    v_until := coalesce(v_until, 'infinity');
    update lanefold._run set suspended_until = v_until where thread_id = p_thread_id and id = p_run_id;
    return jsonb_build_object('status', 'suspended');
  end if;
  -- the caller cannot add the job if the queue belongs to another fleet: the job then counts as lost at once, as in
  -- mark_job_missing
  v_forgotten := p_at - interval '10 s';
  update lanefold._run
  set status = 'queued', enqueue_no = enqueue_no + 1, suspended_until = null, agent_unknown_since = null, ready_at = p_at,
      enqueued_at = case when queue_prefix is not distinct from p_prefix then p_at else v_forgotten end
  where thread_id = p_thread_id and id = p_run_id returning * into r;
  return jsonb_build_object('status', 'queued', 'job', lanefold._job_of(r));
end $$;
