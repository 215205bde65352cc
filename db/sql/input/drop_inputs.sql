-- Drops the input still queued when a run ended and marks its receipts.
create or replace function lanefold._drop_inputs(p_thread_id text, p_run_id text)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
begin
  update lanefold.pending_input set status = 'dropped', settled_at = v_at
  where thread_id = p_thread_id and run_id = p_run_id and status = 'queued';
  update lanefold._run set queued_inputs = 0 where thread_id = p_thread_id and id = p_run_id;
end $$;
