-- Locks a thread for the rest of the transaction and returns its row, null where there is none. Waits two seconds for somebody
-- else's transaction, then raises 55P03: an open transaction must not hold every connection of its neighbours.
create or replace function lanefold._await_thread(p_thread_id text)
returns lanefold.thread language plpgsql set lock_timeout = '2s' as $$
declare
  t lanefold.thread;
begin
  select * into t from lanefold.thread where id = p_thread_id for update;
  return t;
end $$;
