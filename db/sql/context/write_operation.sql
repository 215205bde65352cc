-- Writes an accepted operation to the log and, with p_switch, makes its lane the active one. The caller holds the lock
-- of the thread and has validated the operation. p_hash is null for a deferred operation, whose row in context_op
-- exists, and for the restore of a failed run. A compaction is completed by _compact first. Returns the seq of the
-- entry, null for a stale compaction.
create or replace function lanefold._write_operation(
  p_thread_id text, p_op_id text, p_context_ref text, p_operation jsonb, p_hash text, p_switch boolean default true
) returns bigint language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_seq bigint;
  v_tenant text;
  v_operation jsonb := p_operation;
begin
  select tenant_id into v_tenant from lanefold.thread where id = p_thread_id;
  if p_operation ->> 'type' = 'replace' and p_operation ->> 'reason' = 'compaction' then
    v_operation := lanefold._compact(p_thread_id, p_context_ref, p_operation);
    if v_operation is null then
      insert into lanefold.context_op (thread_id, tenant_id, op_id, context_ref, type, reason, status, hash, created_at, settled_at)
      values (p_thread_id, v_tenant, p_op_id, p_context_ref, 'replace', 'compaction', 'stale', coalesce(p_hash, ''), v_at, v_at)
      on conflict (thread_id, op_id) do update set status = 'stale', operation = null, settled_at = v_at;
      return null;
    end if;
  end if;
  update lanefold.thread
  set rev = rev + 1, active_context_ref = case when p_switch then p_context_ref else active_context_ref end, updated_at = v_at
  where id = p_thread_id returning rev - 1 into v_seq;
  perform lanefold._insert_entries(p_thread_id, v_seq, v_at, jsonb_build_array(jsonb_build_object('kind', 'ai_context_operation',
    'op_id', p_op_id, 'is_anchor', p_operation ->> 'type' = 'replace', 'payload', jsonb_build_object('operation', v_operation))),
    p_context_ref);
  perform lanefold._touch_lane(p_thread_id, p_context_ref);
  insert into lanefold.context_op (thread_id, tenant_id, op_id, context_ref, type, reason, status, hash, entry_seq, created_at,
    settled_at)
  values (p_thread_id, v_tenant, p_op_id, p_context_ref, p_operation ->> 'type', p_operation ->> 'reason', 'applied',
    coalesce(p_hash, ''), v_seq, v_at, v_at)
  on conflict (thread_id, op_id) do update set status = 'applied', operation = null, entry_seq = v_seq, settled_at = v_at;
  return v_seq;
end $$;
