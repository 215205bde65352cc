-- Denies the calls of a suspended run whose time is over, which takes the run up again. p_prefix: the queue the caller adds
-- the job to; a run of another queue is left to its own workers for p_adopt_ms. Returns the job, or null where there is nothing to do (any more).
create or replace function lanefold.expire_approvals(p_thread_id text, p_run_id text, p_prefix text, p_adopt_ms int default 300000)
returns jsonb language plpgsql as $$
declare
  c record;
  v_out jsonb;
begin
  perform lanefold._lock_thread(p_thread_id);
  update lanefold._run set queue_prefix = p_prefix
  where thread_id = p_thread_id and id = p_run_id and status = 'suspended'
    and suspended_until < clock_timestamp() - case when queue_prefix = p_prefix then 0 else p_adopt_ms end * interval '1 ms';
  if not found then
    return null;
  end if;
  for c in
    select round, call_index from lanefold._tool_call
    where thread_id = p_thread_id and run_id = p_run_id and status = 'awaiting_approval' order by round, call_index
  loop
    v_out := lanefold.decide_tool_call(p_thread_id, p_run_id, c.round, c.call_index, jsonb_build_object('decision', 'denied', 'by', 'lanefold',
      'reason', 'nobody decided in time', 'queue_prefix', p_prefix));
  end loop;
  return v_out -> 'job';
end $$;
