-- The events of a thread that a stream has not seen: those after p_head, in order, at most p_limit. An idle thread
-- costs one read of its row and returns no row; an erased one returns a single row with `erased`.
create or replace function lanefold.new_events(p_thread_id text, p_head bigint, p_limit int)
returns table (
  erased boolean, event_seq bigint, run_id text, seq int, kind text, iteration int, data jsonb, at timestamptz
) language plpgsql stable rows 10 as $$
declare
  t record;
begin
  select h.event_rev, h.erased_at into t from lanefold.thread h where h.id = p_thread_id;
  if t.erased_at is not null then
    erased := true;
    return next;
  elsif t.event_rev > p_head + 1 then
    return query
    select false, e.event_seq, e.run_id, e.seq, e.kind, e.iteration, e.data, e.at
    from lanefold.events_after(p_thread_id, p_head, p_limit) e;
  end if;
end $$;
