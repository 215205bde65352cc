-- The lanes of a thread, derived entry by entry from its log alone. Tests compare the view `lane` and the list of
-- lanes with it, and rebuild_lanes restores the list from it.
create or replace function lanefold.lanes_from_log(p_thread_id text)
returns table (context_ref text, anchor_seq bigint, last_seq bigint, open_calls int) language plpgsql stable as $$
declare
  e record;
begin
  for e in
    select x.context_ref, x.seq, x.kind, x.is_anchor, x.role, coalesce(jsonb_array_length(x.payload -> 'tool_calls'), 0) as calls
    from lanefold._entry x
    where x.thread_id = p_thread_id and x.kind in ('ai_message', 'ai_context_operation')
    order by x.context_ref, x.seq
  loop
    if context_ref is distinct from e.context_ref then
      if context_ref is not null then
        return next;
      end if;
      context_ref := e.context_ref;
      anchor_seq := -1;
      open_calls := 0;
    end if;
    last_seq := e.seq;
    if e.is_anchor then
      anchor_seq := e.seq;
      open_calls := 0;
    elsif e.role = 'tool' then
      open_calls := greatest(open_calls - 1, 0);
    elsif e.kind = 'ai_message' then
      open_calls := e.calls;
    end if;
  end loop;
  if context_ref is not null then
    return next;
  end if;
end $$;
