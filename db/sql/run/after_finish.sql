-- What follows the end of a run, in the same commit and in this order: input that nobody took is dropped, the context is
-- restored where the run requested it, the deferred operation and configuration are applied, the next waiting run becomes the
-- active one. The caller, commit_step or finish_run, holds the lock of the thread. Returns {promoted?}.
create or replace function lanefold._after_finish(p_thread_id text, p_run_id text)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  o lanefold.context_op;
  v_config jsonb;
  v_context jsonb;
begin
  select * into t from lanefold.thread where id = p_thread_id;
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if r.queued_inputs > 0 then
    perform lanefold._drop_inputs(p_thread_id, p_run_id);
  end if;
  if r.status = 'failed' and r.options ->> 'on_failure' = 'restore' and r.user_seq is not null then
    -- the messages only: the prompt is inherited, or an agent's would be pinned against the next agent's
    v_context := lanefold._context_snapshot(p_thread_id, r.context_ref, r.user_seq - 1) - 'system_prompt';
    perform lanefold._write_operation(p_thread_id, p_run_id || '/restore', r.context_ref,
      jsonb_build_object('type', 'replace', 'reason', 'restore', 'result_context', v_context,
        'meta', jsonb_build_object('run_id', p_run_id)), null, false);
  end if;
  if t.pending_op_id is not null then
    select * into o from lanefold.context_op where thread_id = p_thread_id and op_id = t.pending_op_id;
    perform lanefold._write_operation(p_thread_id, o.op_id, o.context_ref, o.operation, null);
    update lanefold.thread set pending_op_id = null where id = p_thread_id;
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
