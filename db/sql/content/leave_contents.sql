-- Removes the large texts of a thread that is being erased. Forks that quote one get the text itself, each its own.
create or replace function lanefold._leave_contents(p_thread_id text)
returns void language plpgsql as $$
begin
  -- a fork under way holds them; what it has written is visible to the next statement
  perform from lanefold.content where thread_id = p_thread_id order by id for update;
  perform from lanefold.content where home_thread_id = p_thread_id order by thread_id, id for update;
  update lanefold.content f set text = c.text, home_thread_id = null
  from lanefold.content c
  where f.home_thread_id = p_thread_id and c.thread_id = p_thread_id and c.id = f.id;
  delete from lanefold.content where thread_id = p_thread_id;
end $$;
