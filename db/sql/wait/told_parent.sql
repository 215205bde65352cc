-- The parent of a child run has been told of its end.
create or replace function lanefold.told_parent(p_thread_id text, p_run_id text)
returns void language plpgsql as $$
declare
  v_at timestamptz;
begin
  v_at := lanefold._now();
  update lanefold._child_run set told_at = v_at where thread_id = p_thread_id and run_id = p_run_id and told_at is null;
  perform from lanefold._run where thread_id = p_thread_id and id = p_run_id;
  if not found then
    -- the thread was erased
    delete from lanefold._child_run where thread_id = p_thread_id and run_id = p_run_id;
  end if;
end $$;
