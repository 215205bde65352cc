-- Whether a compaction comes too late to be written: the lane has a newer anchor after the base, or p_entries are not
-- closed tool groups because the base lies inside one.
create or replace function lanefold._is_stale_compaction(p_thread_id text, p_context_ref text, p_base bigint, p_entries jsonb)
returns boolean language plpgsql stable as $$
begin
  perform from lanefold._entry e
  where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_context_operation' and e.is_anchor
    and e.seq > p_base;
  return found or lanefold._messages_problem(p_entries) is not null;
end $$;
