-- Accepts a context operation. It is applied at once on an idle thread and deferred while a run is active; a newer
-- deferred operation displaces the older one, which becomes `superseded`. p_operation: {type: replace|switch, reason?,
-- result_context?, base_seq?, meta?}. p_options: {expected_rev?, hash, repair?, max_context_bytes?, contents?}.
-- Without p_context_ref it applies to the thread's active lane. Repeating an op_id returns the status of its operation
-- and displaces nothing.
-- Returns {op_id, status: applied|deferred|duplicate|stale, op_status, seq?, rev}. Raises LF006 another rev, LF007
-- another body under the op_id, LF008 open tool groups, LF010 invalid operation, LF014 malformed message, LF016 bad
-- id, LF023 context too large.
create or replace function lanefold.apply_operation(
  p_thread_id text, p_op_id text, p_context_ref text, p_operation jsonb, p_options jsonb default '{}'
) returns jsonb language plpgsql as $$
declare
  t lanefold.thread;
  o lanefold.context_op;
  v_operation jsonb := p_operation;
  v_entries jsonb;
  v_problem text;
  v_seq bigint;
  v_hash constant text := coalesce(p_options ->> 'hash', '');
  v_at timestamptz;
begin
  perform lanefold._check_id(p_op_id, 'op_id');
  perform lanefold._check_depth(p_operation, format('Operation %s', p_op_id));
  t := lanefold._lock_thread(p_thread_id);
  p_context_ref := coalesce(p_context_ref, t.active_context_ref);
  perform lanefold._check_id(p_context_ref, 'context_ref');
  v_at := lanefold._now();
  select * into o from lanefold.context_op where thread_id = p_thread_id and op_id = p_op_id;
  if found then
    if o.hash <> v_hash then
      perform lanefold._fail('LF007', format('Operation %s was accepted with another body.', p_op_id),
        'Use a new op_id for a new operation.');
    end if;
    return jsonb_build_object('op_id', p_op_id, 'status', 'duplicate', 'op_status', o.status, 'seq', o.entry_seq, 'rev', t.rev);
  end if;
  v_operation := v_operation || jsonb_build_object('reason', coalesce(p_operation ->> 'reason', 'manual'));
  if v_operation ->> 'type' = 'switch' then
    v_operation := v_operation - 'result_context';
  else
    v_entries := p_operation -> 'result_context' -> 'entries';
  end if;
  v_problem := case
    when coalesce(p_operation ->> 'type', '') not in ('replace', 'switch') then 'its type is neither replace nor switch'
    when v_operation ->> 'reason' not in ('manual', 'restore', 'compaction', 'system') then
      'its reason is none of manual, restore, compaction, system'
    when jsonb_typeof(coalesce(p_operation -> 'meta', '{}')) <> 'object' then 'its meta is not an object'
    when p_operation ? 'base_seq' and (jsonb_typeof(p_operation -> 'base_seq') <> 'number'
      or p_operation ->> 'base_seq' !~ '^[0-9]{1,18}$' or (p_operation ->> 'base_seq')::bigint >= t.rev) then
      format('its base_seq is not the seq of an entry, 0 to %s', t.rev - 1)
    when v_operation ->> 'type' = 'switch' then null
    when jsonb_typeof(p_operation -> 'result_context') is distinct from 'object' then 'it has no result_context'
    when jsonb_typeof(coalesce(p_operation -> 'result_context' -> 'system_prompt', 'null')) not in ('string', 'null') then
      'its system_prompt is neither a string nor null'
    when jsonb_typeof(v_entries) is distinct from 'array' then 'the entries of its result_context are not a list'
  end;
  if v_problem is not null then
    perform lanefold._fail('LF010', format('Operation %s is invalid: %s.', p_op_id, v_problem),
      'Nothing was changed. Correct the operation and send it again.');
  end if;
  if v_operation ->> 'type' = 'replace' then
    perform lanefold._check_messages(v_entries, format('the result_context of operation %s', p_op_id));
    v_problem := lanefold._messages_problem(v_entries, coalesce((p_options -> 'repair')::boolean, false));
    if v_problem is not null then
      perform lanefold._fail('LF008',
        format('The result_context of operation %s does not consist of closed tool groups: %s.', p_op_id, v_problem),
        'Send one tool message per call, in call order, right after the assistant message; or pass repair: true.');
    end if;
    if (p_options -> 'repair')::boolean then
      v_operation := jsonb_set(v_operation, '{result_context,entries}', lanefold._repair_messages(v_entries));
    end if;
  end if;
  perform lanefold._check_rev(t, (p_options ->> 'expected_rev')::bigint);
  if v_operation ->> 'type' = 'replace' and pg_column_size(v_operation) > lanefold._max_context_bytes(p_options) then
    perform lanefold._fail('LF023', format('The result_context of operation %s has %s bytes, more than %s.', p_op_id,
      pg_column_size(v_operation), lanefold._max_context_bytes(p_options)), 'Nothing was changed. Send a smaller one.');
  end if;
  if p_options ? 'contents' then
    perform lanefold._store_contents(p_thread_id, t.tenant_id, p_options -> 'contents');
  end if;
  if jsonb_path_exists(v_entries, '$[*].refs.contents') then
    select k ->> 'id' into v_problem
    from jsonb_path_query(v_entries, '$[*].refs.contents[*]') k
    left join lanefold.content c on c.thread_id = p_thread_id and c.id = k ->> 'id'
    where c.id is null limit 1;
    if v_problem is not null then
      perform lanefold._fail('LF014', format('The result_context of operation %s quotes the text %s, which thread %s does not contain.',
        p_op_id, v_problem, p_thread_id), 'Nothing was changed. Send the whole text, as read_content of its thread returns it.');
    end if;
  end if;
  if t.active_run_id is null then
    v_seq := lanefold._write_operation(p_thread_id, p_op_id, p_context_ref, v_operation, v_hash);
    if v_seq is null then
      return jsonb_build_object('op_id', p_op_id, 'status', 'stale', 'op_status', 'stale', 'rev', t.rev);
    end if;
    return jsonb_build_object('op_id', p_op_id, 'status', 'applied', 'op_status', 'applied', 'seq', v_seq, 'rev', v_seq + 1);
  end if;
  update lanefold.context_op set status = 'superseded', operation = null, settled_at = v_at
  where thread_id = p_thread_id and op_id = t.pending_op_id;
  insert into lanefold.context_op (thread_id, tenant_id, op_id, context_ref, type, reason, status, hash, operation, created_at)
  values (p_thread_id, t.tenant_id, p_op_id, p_context_ref, v_operation ->> 'type', v_operation ->> 'reason', 'pending',
    v_hash, v_operation, v_at);
  -- it makes its lane the active one, and so displaces a branch that was to be shown
  update lanefold.thread set pending_op_id = p_op_id, pending_branch = null where id = p_thread_id;
  return jsonb_build_object('op_id', p_op_id, 'status', 'deferred', 'op_status', 'pending', 'rev', t.rev);
end $$;
