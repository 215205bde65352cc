-- Locks a thread unless a writer holds it, so that a transaction left open does not stop the recovery of other
-- threads. Returns whether the thread was locked; false also if it does not exist.
create or replace function lanefold._try_lock_thread(p_thread_id text)
returns boolean language plpgsql as $$
begin
  perform from lanefold.thread where id = p_thread_id for update skip locked;
  return found;
end $$;
