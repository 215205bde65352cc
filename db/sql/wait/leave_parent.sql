-- At the end of a run that another run started: its parent is to be told.
create or replace function lanefold._leave_parent(p_thread_id text, p_run_id text, p_at timestamptz)
returns void language plpgsql as $$
begin
  update lanefold._child_run set ended_at = p_at where thread_id = p_thread_id and run_id = p_run_id;
end $$;
