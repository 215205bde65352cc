-- Locks a thread unless a writer holds it: a transaction left open must not stop the recovery of other threads. Returns
-- whether it did; false also where there is no such thread.
create or replace function lanefold._try_lock_thread(p_thread_id text)
returns boolean language plpgsql as $$
begin
  perform from lanefold.thread where id = p_thread_id for update skip locked;
  return found;
end $$;
