-- The lanes of a thread, from its log alone.
create or replace function lanefold.lanes_from_log(p_thread_id text)
returns table (context_ref text, anchor_seq bigint, last_seq bigint, open_calls int) language sql stable as $$
  select l.context_ref, h.anchor_seq, h.last_seq, h.open_calls
  from (select distinct e.context_ref from lanefold._entry e
        where e.thread_id = p_thread_id and e.kind in ('ai_message', 'ai_context_operation')) l
  cross join lateral lanefold._lane_head(p_thread_id, l.context_ref) h;
$$;

-- Makes the list of a thread's lanes anew.
create or replace function lanefold.rebuild_lanes(p_thread_id text)
returns void language plpgsql as $$
begin
  perform lanefold._lock_thread(p_thread_id);
  delete from lanefold._lane where thread_id = p_thread_id;
  insert into lanefold._lane (thread_id, context_ref) select p_thread_id, l.context_ref from lanefold.lanes_from_log(p_thread_id) l;
end $$;
