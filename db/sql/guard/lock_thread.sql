-- The first statement of every writer: all writers of a thread queue here, and what they read afterwards is current. Returns
-- the row; LF001 for a thread that does not exist, LF003 for one that was erased.
create or replace function lanefold._lock_thread(p_thread_id text)
returns lanefold.thread language plpgsql as $$
declare
  t lanefold.thread;
begin
  select * into t from lanefold.thread where id = p_thread_id for update;
  if not found then
    perform lanefold._fail('LF001', format('Thread %s does not exist.', p_thread_id), 'Create it first, or check the id.');
  elsif t.erased_at is not null then
    perform lanefold._fail('LF003', format('Thread %s was erased.', p_thread_id), 'Its id is never used again; create another thread.');
  end if;
  return t;
end $$;
