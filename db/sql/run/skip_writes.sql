-- Gives up all other writes at the end of a run, for a run whose end raised an error: stored outcomes of open tool
-- calls become `unknown`, the deferred operation `stale`; the restore and the deferred configuration are dropped.
-- Returns what was given up, for error.skipped.
create or replace function lanefold._skip_writes(p_thread_id text, r lanefold._run)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  v_at constant timestamptz := lanefold._now();
  v_skipped jsonb := '[]'::jsonb;
begin
  select * into t from lanefold.thread where id = p_thread_id;
  update lanefold._tool_call set outcome = null, status = 'unknown'
  where thread_id = p_thread_id and run_id = r.id and result_seq is null and outcome is not null;
  if found then
    v_skipped := v_skipped || '"results"';
  end if;
  if r.options ? 'on_failure' then
    update lanefold._run set options = options - 'on_failure' where thread_id = p_thread_id and id = r.id;
    v_skipped := v_skipped || '"restore"';
  end if;
  if t.pending_op_id is not null then
    update lanefold.context_op set status = 'stale', operation = null, settled_at = v_at
    where thread_id = p_thread_id and op_id = t.pending_op_id;
    v_skipped := v_skipped || '"operation"';
  end if;
  if t.pending_config is not null then
    v_skipped := v_skipped || '"configuration"';
  end if;
  update lanefold.thread set pending_op_id = null, pending_config = null where id = p_thread_id;
  return v_skipped;
end $$;
