-- The first statement of every writer: all writers of a thread queue here, and what they read afterwards is current. Returns
-- the row; LF001 for a thread that does not exist, LF003 for one that was erased, 55P03 for one that somebody else keeps locked.
create or replace function lanefold._lock_thread(p_thread_id text)
returns lanefold.thread language plpgsql as $$
declare
  t lanefold.thread;
begin
  t := lanefold._await_thread(p_thread_id);
  perform lanefold._check_thread(p_thread_id, t);
  return t;
end $$;
