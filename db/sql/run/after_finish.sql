-- Completes the end of a run, in the same commit and in this order: drops input that was not used, restores the
-- context if the run requested it, applies the deferred operation, shows the deferred branch, applies the deferred
-- configuration, and makes the next waiting run active. The caller, commit_step or finish_run, holds the lock of the thread. A restore or an operation too large to
-- be written is skipped and recorded in error.skipped of the run, so that no run is kept from ending. Returns
-- {promoted?}.
create or replace function lanefold._after_finish(p_thread_id text, p_run_id text)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  v_config jsonb;
  v_skipped text[] := array[]::text[];
begin
  select * into t from lanefold.thread where id = p_thread_id;
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if r.queued_inputs > 0 then
    perform lanefold._drop_inputs(p_thread_id, p_run_id);
  end if;
  if r.status = 'failed' and r.options ->> 'on_failure' = 'rewind' and (r.user_seq is not null or r.options ? 'answers') then
    if not lanefold._restore_context(p_thread_id, r) then
      v_skipped := array_append(v_skipped, 'restore');
    end if;
  end if;
  if t.pending_op_id is not null then
    if not lanefold._apply_pending(p_thread_id, t.pending_op_id) then
      v_skipped := array_append(v_skipped, 'operation');
    end if;
  end if;
  if t.pending_branch is not null then
    perform lanefold._show_branch(p_thread_id, t.pending_branch);
    update lanefold.thread set pending_branch = null where id = p_thread_id;
  end if;
  if cardinality(v_skipped) > 0 then
    update lanefold._run set error = coalesce(error, '{}') || jsonb_build_object('skipped', v_skipped)
    where thread_id = p_thread_id and id = p_run_id;
  end if;
  if t.pending_config is not null then
    for v_config in select value from jsonb_array_elements(t.pending_config) loop
      perform lanefold._log_config_change(p_thread_id, v_config ->> 'context_ref', v_config -> 'changes');
    end loop;
    update lanefold.thread set pending_config = null where id = p_thread_id;
  end if;
  if t.waiting_runs > 0 then
    return lanefold._promote_next_run(p_thread_id);
  end if;
  return '{}'::jsonb;
end $$;
