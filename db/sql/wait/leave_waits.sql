-- At the end of a run: its open waits are over, and a run that did not complete takes its unfinished child runs with it.
-- Notifies workers of child runs to cancel on the channel lanefold_waits. The caller holds the lock of the thread.
create or replace function lanefold._leave_waits(p_thread_id text, p_run_id text, p_status text, p_at timestamptz)
returns void language plpgsql as $$
begin
  update lanefold._wait
  set status = 'abandoned', ended_at = p_at, task = null
  where thread_id = p_thread_id and run_id = p_run_id and status = 'open';
  if p_status = 'completed' then
    return;
  end if;
  update lanefold._wait set task = 'cancel', ended_at = p_at
  where thread_id = p_thread_id and run_id = p_run_id and request is not null and child_ended_at is null;
  if found then
    perform pg_notify('lanefold_waits', '');
  end if;
end $$;
