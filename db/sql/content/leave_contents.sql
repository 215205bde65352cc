-- Removes the large texts of a thread that is being erased. Each fork that quotes one gets its own copy first. Forks
-- may be on other nodes of a distributed database, so each row is written with the thread id of its fork.
create or replace function lanefold._leave_contents(p_thread_id text)
returns void language plpgsql as $$
declare
  f record;
  v_text text;
begin
  -- waits for a fork in progress, which locks these rows; its new rows are visible to the next statement
  perform from lanefold.content where thread_id = p_thread_id order by id for update;
  if not found then
    return;
  end if;
  for f in select thread_id, id from lanefold.content where home_thread_id = p_thread_id order by thread_id, id loop
    select c.text into v_text from lanefold.content c where c.thread_id = p_thread_id and c.id = f.id;
    update lanefold.content set text = v_text, home_thread_id = null
    where thread_id = f.thread_id and id = f.id and home_thread_id = p_thread_id;
  end loop;
  delete from lanefold.content where thread_id = p_thread_id;
end $$;
