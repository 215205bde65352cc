-- Denies the calls of a suspended run whose approval timed out, which queues the run again. p_prefix: of the queue the
-- caller adds the job to. A run of another queue is left to its own workers for p_adopt_ms. Returns the job as
-- decide_tool_call does, or null if there is nothing to do or a writer holds the thread; the next sweep tries again.
create or replace function lanefold.expire_approvals(p_thread_id text, p_run_id text, p_prefix text, p_adopt_ms int default 300000)
returns jsonb language plpgsql as $$
declare
  c record;
  v_at timestamptz;
  v_adopt_before timestamptz;
  v_out jsonb;
begin
  if not lanefold._try_lock_thread(p_thread_id) then
    return null;
  end if;
  v_at := lanefold._now();
  v_adopt_before := v_at - p_adopt_ms * interval '1 ms';
  update lanefold._run set queue_prefix = p_prefix
  where thread_id = p_thread_id and id = p_run_id and status = 'suspended'
    and suspended_until < case when queue_prefix = p_prefix then v_at else v_adopt_before end;
  if not found then
    return null;
  end if;
  for c in
    select round, call_index from lanefold._tool_call
    where thread_id = p_thread_id and run_id = p_run_id and status = 'awaiting_approval' order by round, call_index
  loop
    v_out := lanefold.decide_tool_call(p_thread_id, p_run_id, c.round, c.call_index, jsonb_build_object('decision', 'denied',
      'by', 'lanefold', 'reason', 'the approval request expired', 'queue_prefix', p_prefix));
  end loop;
  return v_out -> 'job';
end $$;
