-- What follows a terminal transition, in the same commit and in this order: input nobody took is dropped, the context is
-- restored where the run asked for it, the deferred operation and configuration are applied, the next waiting run becomes the active one.
-- Returns {promoted?}.
create or replace function lanefold._settle_after_finish(p_thread_id text, p_run_id text)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  r lanefold._run;
  o lanefold.context_op;
  v_at constant timestamptz := clock_timestamp();
  v_next text;
begin
  select * into t from lanefold.thread where id = p_thread_id;
  select * into r from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if r.queued_inputs > 0 then
    update lanefold.pending_input set status = 'dropped', settled_at = v_at
    where thread_id = p_thread_id and run_id = p_run_id and status = 'queued';
    update lanefold._run set queued_inputs = 0 where thread_id = p_thread_id and id = p_run_id;
  end if;
  -- the messages only: the prompt is inherited, or an agent's would be pinned against the next agent's
  if r.status = 'failed' and r.options ->> 'on_failure' = 'restore' and r.user_seq is not null then
    perform lanefold._write_operation(p_thread_id, p_run_id || '/restore', r.context_ref, jsonb_build_object('type', 'replace', 'reason', 'restore',
      'result_context', lanefold._context_snapshot(p_thread_id, r.context_ref, r.user_seq - 1) - 'system_prompt', 'meta', jsonb_build_object('run_id', p_run_id)), null, false);
  end if;
  if t.pending_op_id is not null then
    select * into o from lanefold.context_op where thread_id = p_thread_id and op_id = t.pending_op_id;
    perform lanefold._write_operation(p_thread_id, o.op_id, o.context_ref, o.operation, null);
    update lanefold.thread set pending_op_id = null where id = p_thread_id;
  end if;
  if t.pending_config is not null then
    perform lanefold._write_config(p_thread_id, c ->> 'context_ref', c -> 'changes')
    from jsonb_array_elements(t.pending_config) with ordinality as x (c, n);
    update lanefold.thread set pending_config = null where id = p_thread_id;
  end if;
  if t.waiting_runs > 0 then
    update lanefold._run set status = 'queued', active = true, enqueue_no = enqueue_no + 1, enqueued_at = v_at
    where thread_id = p_thread_id and id = (
      select id from lanefold._run where thread_id = p_thread_id and not active and finished_at is null order by interrupts desc, created_at limit 1)
    returning id into v_next;
    update lanefold.thread set active_run_id = v_next, waiting_runs = waiting_runs - 1 where id = p_thread_id;
    return lanefold._promoted(p_thread_id);
  end if;
  return '{}';
end $$;
