-- Locks a thread for the rest of the transaction and returns its row, null if it does not exist. Waits two seconds for
-- another transaction, then raises 55P03: a transaction left open must not block every connection of other clients.
create or replace function lanefold._await_thread(p_thread_id text)
returns lanefold.thread language plpgsql set lock_timeout = '2s' as $$
declare
  t lanefold.thread;
begin
  select * into t from lanefold.thread where id = p_thread_id for update;
  return t;
end $$;
