-- Completes a compaction before it is written: its summary, then the messages that came after its base_seq, and the
-- durable messages of the lane. p_operation is an accepted `replace` with the reason `compaction`. Returns the
-- operation, or null for a stale one: see _is_stale_compaction.
create or replace function lanefold._compact(p_thread_id text, p_context_ref text, p_operation jsonb)
returns jsonb language plpgsql stable as $$
declare
  v_base constant bigint := (p_operation ->> 'base_seq')::bigint;
  v_entries jsonb := p_operation -> 'result_context' -> 'entries';
begin
  if v_base is not null then
    v_entries := v_entries || lanefold._later_messages(p_thread_id, p_context_ref, v_base);
    if lanefold._is_stale_compaction(p_thread_id, p_context_ref, v_base, v_entries) then
      return null;
    end if;
  end if;
  v_entries := lanefold._keep_durable(v_entries,
    lanefold._durable_messages(p_thread_id, p_context_ref, coalesce(v_base, 9223372036854775807)));
  return jsonb_set(p_operation, '{result_context,entries}', v_entries);
end $$;
