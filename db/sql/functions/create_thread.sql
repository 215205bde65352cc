-- Creates a thread. p: {id, tenant_id?, metadata?, system_prompt?, request_hash?}. A prompt is logged as the first entry.
-- The same id again: LF002.
create or replace function lanefold.create_thread(p jsonb)
returns jsonb language plpgsql as $$
declare
  v_id constant text := p ->> 'id';
  v_at constant timestamptz := clock_timestamp();
  v_rev constant int := (p ? 'system_prompt')::int;
begin
  perform lanefold._check_id(v_id, 'thread id');
  insert into lanefold.thread (id, tenant_id, metadata, rev, created_at, updated_at)
  values (v_id, coalesce(p ->> 'tenant_id', 'default'), coalesce(p -> 'metadata', '{}'), v_rev, v_at, v_at)
  on conflict (id) do nothing;
  if not found then
    perform lanefold._lock_thread(v_id);
    perform lanefold._fail('LF002', format('Thread %s exists already.', v_id), 'Use another id, or go on with the existing thread.');
  end if;
  if v_rev > 0 then
    perform lanefold._insert_entries(v_id, 0, v_at, jsonb_build_array(jsonb_build_object('kind', 'ai_config_change',
      'payload', jsonb_build_object('field', 'system_prompt', 'value', p -> 'system_prompt'))), null);
  end if;
  return jsonb_build_object('id', v_id, 'rev', v_rev, 'created_at', v_at);
end $$;
