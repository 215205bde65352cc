-- Events of a thread after an event_seq, in order. A batch is found by its first event, so the search starts at the
-- last batch that begins at or before the wanted one.
create or replace function lanefold.events_after(p_thread_id text, p_after bigint, p_limit int)
returns setof lanefold.run_event language plpgsql stable rows 100 as $$
declare
  v_from bigint;
begin
  select max(b.event_seq) into v_from
  from lanefold._event_batch b where b.thread_id = p_thread_id and b.event_seq <= p_after + 1;
  return query
  select e.* from lanefold.run_event e
  where e.thread_id = p_thread_id and e.batch_seq >= coalesce(v_from, 0) and e.event_seq > p_after
  order by e.batch_seq, e.event_seq limit p_limit;
end $$;
