-- Applies the operation that was deferred until the end of the run. Returns false if it is too large to be written
-- with the messages that a compaction carries over; it then becomes stale.
create or replace function lanefold._apply_pending(p_thread_id text, p_op_id text)
returns boolean language plpgsql as $$
declare
  o lanefold.context_op;
  v_at timestamptz;
begin
  select * into o from lanefold.context_op where thread_id = p_thread_id and op_id = p_op_id;
  update lanefold.thread set pending_op_id = null where id = p_thread_id;
  begin
    perform lanefold._write_operation(p_thread_id, o.op_id, o.context_ref, o.operation, null);
    return true;
  exception when program_limit_exceeded then
    v_at := lanefold._now();
    update lanefold.context_op set status = 'stale', operation = null, settled_at = v_at
    where thread_id = p_thread_id and op_id = p_op_id;
    return false;
  end;
end $$;
