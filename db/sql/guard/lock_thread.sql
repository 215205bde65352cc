-- The first statement of every writer: writers of a thread queue here, so everything they read afterwards is current.
-- Returns the row. Raises LF001 for a thread that does not exist, LF003 for an erased one, 55P03 if another
-- transaction keeps it locked.
create or replace function lanefold._lock_thread(p_thread_id text)
returns lanefold.thread language plpgsql as $$
declare
  t lanefold.thread;
begin
  t := lanefold._await_thread(p_thread_id);
  perform lanefold._check_thread(p_thread_id, t);
  return t;
end $$;
