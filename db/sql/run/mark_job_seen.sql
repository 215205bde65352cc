-- Notes that the queue has the job of a run: the next sweep looks at other runs first, and no other fleet adopts this
-- one. For a run that was moved, it also records that a worker with its agent was seen now. Skips a run that a
-- writer holds.
create or replace function lanefold.mark_job_seen(p_thread_id text, p_run_id text, p_enqueue_no int)
returns void language plpgsql as $$
declare
  v_at timestamptz;
begin
  perform from lanefold._run
  where thread_id = p_thread_id and id = p_run_id and enqueue_no = p_enqueue_no and active
  for update skip locked;
  if found then
    v_at := lanefold._now();
    update lanefold._run set enqueued_at = v_at, agent_unknown_since = case when agent_unknown_since is not null then v_at end
    where thread_id = p_thread_id and id = p_run_id;
  end if;
end $$;
