-- Creates a thread. p: {tenant_id?: default the scope, metadata?, system_prompt?}. A prompt is logged as the first
-- entry. Returns {id, rev, created_at}. Raises LF002 if the id is taken, LF003 if it belonged to an erased thread,
-- LF014 if the metadata is too large, LF016.
create or replace function lanefold.create_thread(p_thread_id text, p jsonb)
returns jsonb language plpgsql
-- another transaction may have inserted the id without having committed
set lock_timeout = '2s' as $$
declare
  t lanefold.thread;
  v_at constant timestamptz := lanefold._now();
  v_rev constant int := (p ? 'system_prompt')::int;
  v_tenant constant text := lanefold._new_tenant(p);
  v_chained constant boolean := lanefold._is_chained(v_tenant);
begin
  perform lanefold._check_id(p_thread_id, 'thread id');
  perform lanefold._check_small_json(p -> 'metadata', 'metadata', 'The thread');
  insert into lanefold.thread (id, tenant_id, chained, metadata, rev, created_at, updated_at)
  values (p_thread_id, v_tenant, v_chained, coalesce(p -> 'metadata', '{}'), v_rev, v_at, v_at)
  on conflict (id) do nothing;
  if not found then
    t := lanefold._await_thread(p_thread_id);
    if t.erased_at is not null then
      perform lanefold._check_thread(p_thread_id, t);
    end if;
    perform lanefold._fail_taken(p_thread_id);
  end if;
  if v_rev > 0 then
    perform lanefold._insert_entries(p_thread_id, 0, v_at, jsonb_build_array(jsonb_build_object('kind', 'ai_config_change',
      'payload', jsonb_build_object('field', 'system_prompt', 'value', p -> 'system_prompt'))), null);
  end if;
  return jsonb_build_object('id', p_thread_id, 'rev', v_rev, 'created_at', v_at);
end $$;
