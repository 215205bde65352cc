-- Creates a thread from the result of fork_source: its configuration, its state and, for each lane, an anchor whose
-- meta names the parent. p: that result with {metadata?, system_prompt?: in place of the prompts of all lanes,
-- request_hash?}. A large text given with its text is stored in the fork; without it, its home thread keeps it.
-- The operation of the active lane comes last, a switch if that lane is empty, so that the log shows which lane is
-- active. Repeating the call with the same id, parent, seq and hash changes nothing.
-- Returns {id, rev, created_at, duplicate}. Raises the errors of create_thread, and LF007 for another hash.
create or replace function lanefold.create_fork(p_thread_id text, p jsonb)
returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  v_at timestamptz;
  v_active constant text := coalesce(p ->> 'active_context_ref', 'default');
  v_hash constant text := coalesce(p ->> 'request_hash', '');
  v_known text;
  v_drafts jsonb := p -> 'config';
begin
  begin
    perform lanefold.create_thread(p_thread_id,
      jsonb_build_object('tenant_id', p -> 'tenant_id', 'metadata', coalesce(p -> 'metadata', '{}')));
  exception when sqlstate 'LF002' then
    -- no row: the id belongs to a thread of another tenant
    select * into t from lanefold.thread where id = p_thread_id;
    if t.parent_thread_id is distinct from p ->> 'parent_thread_id' or t.fork_seq is distinct from (p ->> 'fork_seq')::bigint then
      raise;
    end if;
    -- every operation of a fork has its hash, and callers' op_ids contain no slash
    select o.hash into v_known from lanefold.context_op o where o.thread_id = p_thread_id and o.op_id like 'fork/%' limit 1;
    if v_known <> v_hash then
      perform lanefold._fail('LF007',
        format('Thread %s is already a fork of thread %s, with another lane, prompt, metadata or repair.', p_thread_id, t.parent_thread_id),
        'Use a new id for this fork.');
    end if;
    return jsonb_build_object('id', t.id, 'rev', t.rev, 'created_at', t.created_at, 'duplicate', true);
  end;
  v_at := lanefold._now();
  if p -> 'state' <> '{}' then
    v_drafts := v_drafts || jsonb_build_array(jsonb_build_object('kind', 'ai_state_change',
      'payload', jsonb_build_object('operations', jsonb_build_array(jsonb_build_object('op', 'replace', 'value', p -> 'state')))));
  end if;
  v_drafts := v_drafts || lanefold._fork_operations(p -> 'lanes', v_active,
    jsonb_build_object('parent_thread_id', p -> 'parent_thread_id', 'fork_seq', p -> 'fork_seq'));
  if p ? 'system_prompt' then
    v_drafts := v_drafts || jsonb_build_array(jsonb_build_object('kind', 'ai_config_change',
      'payload', jsonb_build_object('field', 'system_prompt', 'value', p -> 'system_prompt')));
  end if;
  perform lanefold._insert_entries(p_thread_id, 0, v_at, v_drafts, null);
  update lanefold.thread
  set parent_thread_id = p ->> 'parent_thread_id', fork_seq = (p ->> 'fork_seq')::bigint, state = p -> 'state',
      rev = jsonb_array_length(v_drafts), active_context_ref = v_active,
      configured = jsonb_path_exists(v_drafts, '$[*].payload ? (@.field != "system_prompt")')
  where id = p_thread_id returning * into t;
  if p @? '$.contents[*].text' then
    perform lanefold._store_contents(p_thread_id, t.tenant_id, p -> 'contents');
  elsif p -> 'contents' <> '[]' then
    perform lanefold._share_contents(p_thread_id, t.tenant_id, p -> 'contents');
  end if;
  insert into lanefold._lane (thread_id, tenant_id, context_ref)
  select p_thread_id, t.tenant_id, d ->> 'context_ref' from jsonb_array_elements(v_drafts) d where d ->> 'kind' = 'ai_context_operation';
  insert into lanefold.context_op (thread_id, tenant_id, op_id, context_ref, type, reason, status, hash, entry_seq, created_at,
    settled_at)
  select p_thread_id, t.tenant_id, d ->> 'op_id', d ->> 'context_ref', d -> 'payload' -> 'operation' ->> 'type', 'system', 'applied',
    v_hash, n - 1, v_at, v_at
  from jsonb_array_elements(v_drafts) with ordinality as x (d, n) where d ->> 'kind' = 'ai_context_operation';
  return jsonb_build_object('id', t.id, 'rev', t.rev, 'created_at', t.created_at, 'duplicate', false);
end $$;

-- The first operations of a fork, as drafts of entries: an anchor for each lane, the active lane last.
create or replace function lanefold._fork_operations(p_lanes jsonb, p_active text, p_meta jsonb)
returns jsonb language sql immutable as $$
  select to_jsonb(array_agg(jsonb_build_object('kind', 'ai_context_operation', 'op_id', 'fork/' || x.context_ref, 'context_ref', x.context_ref,
      'is_anchor', x.context is not null, 'payload', jsonb_build_object('operation',
        case when x.context is null then jsonb_build_object('type', 'switch')
          else jsonb_build_object('type', 'replace', 'result_context', x.context) end
        || jsonb_build_object('reason', 'system', 'meta', p_meta)))
    order by x.context_ref = p_active, x.context_ref))
  from (
    select l ->> 'context_ref' as context_ref, l -> 'context' as context from jsonb_array_elements(p_lanes) l
    union all
    select p_active, null where not exists (select from jsonb_array_elements(p_lanes) l where l ->> 'context_ref' = p_active)
  ) x;
$$;
