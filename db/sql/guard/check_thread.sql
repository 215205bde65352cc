-- Raises LF001 for a thread that does not exist, LF003 for an erased one. `t` is the locked row.
create or replace function lanefold._check_thread(p_thread_id text, t lanefold.thread)
returns void language plpgsql as $$
begin
  if t.id is null then
    perform lanefold._fail('LF001', format('Thread %s does not exist.', p_thread_id), 'Create it first, or check the id.');
  elsif t.erased_at is not null then
    perform lanefold._fail('LF003', format('Thread %s was erased.', p_thread_id), 'Its id cannot be reused; create another thread.');
  end if;
end $$;
