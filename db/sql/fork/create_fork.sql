-- Creates a thread from what fork_source returned of another one: its configuration, its state, and for each lane an anchor
-- whose meta names the parent. p: that, with {metadata?, system_prompt?: in place of the prompts of all lanes}. The same id
-- with the same parent and seq again changes nothing.
-- Returns {id, rev, created_at, duplicate}. Raises what create_thread raises.
create or replace function lanefold.create_fork(p_thread_id text, p jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  v_at timestamptz;
  v_drafts jsonb := p -> 'config';
  v_lane jsonb;
begin
  begin
    perform lanefold.create_thread(p_thread_id,
      jsonb_build_object('tenant_id', p -> 'tenant_id', 'metadata', coalesce(p -> 'metadata', '{}')));
  exception when sqlstate 'LF002' then
    -- no row: a thread of another tenant has the id
    select * into t from lanefold.thread where id = p_thread_id;
    if t.parent_thread_id is distinct from p ->> 'parent_thread_id' or t.fork_seq is distinct from (p ->> 'fork_seq')::bigint then
      raise;
    end if;
    return jsonb_build_object('id', t.id, 'rev', t.rev, 'created_at', t.created_at, 'duplicate', true);
  end;
  v_at := lanefold._now();
  if p -> 'state' <> '{}' then
    v_drafts := v_drafts || jsonb_build_array(jsonb_build_object('kind', 'ai_state_change',
      'payload', jsonb_build_object('operations', jsonb_build_array(jsonb_build_object('op', 'replace', 'value', p -> 'state')))));
  end if;
  perform lanefold._insert_entries(p_thread_id, 0, v_at, v_drafts, null);
  update lanefold.thread
  set parent_thread_id = p ->> 'parent_thread_id', fork_seq = (p ->> 'fork_seq')::bigint, state = p -> 'state',
      rev = jsonb_array_length(v_drafts), active_context_ref = p ->> 'active_context_ref',
      configured = jsonb_path_exists(v_drafts, '$[*].payload ? (@.field != "system_prompt")')
  where id = p_thread_id;
  for v_lane in select value from jsonb_array_elements(p -> 'lanes') loop
    perform lanefold._write_operation(p_thread_id, 'fork/' || (v_lane ->> 'context_ref'), v_lane ->> 'context_ref',
      jsonb_build_object('type', 'replace', 'reason', 'system', 'result_context', v_lane -> 'context',
        'meta', jsonb_build_object('parent_thread_id', p -> 'parent_thread_id', 'fork_seq', p -> 'fork_seq')), null, false);
  end loop;
  if p ? 'system_prompt' then
    perform lanefold._log_config_change(p_thread_id, null,
      jsonb_build_array(jsonb_build_object('field', 'system_prompt', 'value', p -> 'system_prompt')));
  end if;
  select * into t from lanefold.thread where id = p_thread_id;
  return jsonb_build_object('id', t.id, 'rev', t.rev, 'created_at', t.created_at, 'duplicate', false);
end $$;
