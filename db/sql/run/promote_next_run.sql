-- Makes the next waiting run the thread's active one: interrupts first, then the oldest. A run enqueued without a lane
-- uses the lane that is active now; one that was accepted with a branch shows its lane from now on. The caller holds the
-- lock of the thread, which has no active run. Returns {promoted?} as _promoted does.
create or replace function lanefold._promote_next_run(p_thread_id text)
returns jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_next text;
  v_branch text;  -- to be shown from now on
  v_lane text;
begin
  select id, case when options ? 'shows' then context_ref end into v_next, v_branch from lanefold._run
  where thread_id = p_thread_id and not active and finished_at is null
  order by interrupts desc, created_at limit 1;
  if v_branch is not null then
    perform lanefold._show_branch(p_thread_id, v_branch);
  end if;
  select active_context_ref into v_lane from lanefold.thread where id = p_thread_id;
  update lanefold._run set status = 'queued', active = true, enqueue_no = enqueue_no + 1, enqueued_at = v_at,
    ready_at = greatest(v_at, start_at),
    context_ref = case when options ? 'active_lane' then v_lane else context_ref end
  where thread_id = p_thread_id and id = v_next;
  update lanefold.thread set active_run_id = v_next, waiting_runs = waiting_runs - 1 where id = p_thread_id;
  return lanefold._promoted(p_thread_id);
end $$;
