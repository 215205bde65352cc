-- Ends the waits of a suspended run whose time is up: denies approvals, wakes sleeping calls, and gives the others an
-- error result. p_prefix: of the queue the caller adds the job to. A run of another queue is left to its own workers
-- for p_adopt_ms. Returns the job of a run that continues, or null if there is nothing to do or a writer holds the thread;
-- the next sweep tries again.
create or replace function lanefold.expire_waits(p_thread_id text, p_run_id text, p_prefix text, p_adopt_ms int default 300000)
returns jsonb language plpgsql as $$
declare
  w record;
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
  for w in
    select k.round, k.call_index, k.kind, k.event, k.until from lanefold._wait k
    where k.thread_id = p_thread_id and k.run_id = p_run_id and k.status = 'open' and k.until < v_at order by k.round, k.call_index
  loop
    if w.kind = 'approval' then
      v_out := lanefold.decide_tool_call(p_thread_id, p_run_id, w.round, w.call_index, jsonb_build_object('decision', 'denied',
        'by', 'lanefold', 'reason', 'the approval request expired', 'wait', 'expired', 'queue_prefix', p_prefix));
    else
      v_out := lanefold._end_wait(p_thread_id, p_run_id, w.round, w.call_index, jsonb_build_object('status', 'expired', 'by', 'lanefold',
        'queue_prefix', p_prefix, 'outcome', lanefold._expired_outcome(w.kind, w.event, w.until)));
    end if;
  end loop;
  -- without a wait to end, the run only had an outdated time
  v_out := coalesce(v_out, lanefold._resume_if_ready(p_thread_id, p_run_id, p_prefix, v_at));
  return v_out -> 'job';
end $$;

-- The outcome of a call whose wait has expired: a time is what it waited for.
create or replace function lanefold._expired_outcome(p_kind text, p_event text, p_until timestamptz)
returns jsonb language sql stable as $$
  select case p_kind
    when 'time' then jsonb_build_object('status', 'ok', 'content', jsonb_build_object('waited_until', p_until)::text)
    else jsonb_build_object('status', 'error', 'content', lanefold._error_result('timeout', case p_kind
      when 'event' then format('The event %s did not come in time.', p_event) else 'The agent did not finish in time.' end)) end;
$$;
