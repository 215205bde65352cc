-- A large text of a thread, whichever thread stores it; null if the thread has no content with this id.
create or replace function lanefold._content_text(p_thread_id text, p_id text)
returns text language plpgsql stable as $$
declare
  c lanefold.content;
begin
  select * into c from lanefold.content where thread_id = p_thread_id and id = p_id;
  if c.home_thread_id is not null then
    select * into c from lanefold.content where thread_id = c.home_thread_id and id = p_id;
  end if;
  return c.text;
end $$;
