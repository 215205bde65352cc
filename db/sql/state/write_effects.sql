-- Appends the effects of a round as one entry and applies them to the thread's state. The caller holds the lock of the
-- thread and moves its `rev`.
create or replace function lanefold._write_effects(
  p_thread_id text, p_seq bigint, p_at timestamptz, p_run_id text, p_request_id text, p_iteration int, p_effects jsonb
) returns void language plpgsql as $$
begin
  perform lanefold._insert_entries(p_thread_id, p_seq, p_at, jsonb_build_array(jsonb_build_object('kind', 'ai_state_change',
    'payload', jsonb_build_object('operations', p_effects), 'refs', jsonb_build_object('iteration', p_iteration))),
    null, p_run_id, p_request_id);
  update lanefold.thread set state = lanefold._apply_effects(state, p_effects) where id = p_thread_id;
end $$;
