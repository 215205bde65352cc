-- Writes an accepted operation to the log and, with p_switch, makes its lane the active one. The caller holds the thread's
-- lock and has validated; p_hash is null where the row in context_op exists already. A compaction with a base_seq carries
-- the lane's later messages into its anchor; where a newer anchor stands, or the carried messages would not be closed
-- groups, it is `stale` and nothing is written. A compaction keeps the durable messages of what it replaces. Returns the seq of the entry, null for a stale one.
create or replace function lanefold._write_operation(
  p_thread_id text, p_op_id text, p_context_ref text, p_operation jsonb, p_hash text, p_switch boolean default true
) returns bigint language plpgsql as $$
declare
  v_at constant timestamptz := clock_timestamp();
  v_seq bigint;
  v_replace constant boolean := p_operation ->> 'type' = 'replace';
  v_operation jsonb := p_operation;
  v_base constant bigint := (p_operation ->> 'base_seq')::bigint;
  v_carried jsonb;
begin
  if v_replace and p_operation ->> 'reason' = 'compaction' and v_base is not null then
    select coalesce(jsonb_agg(e.payload || jsonb_strip_nulls(jsonb_build_object('role', e.role, 'run_id', e.run_id,
             'request_id', e.request_id)) || case when e.refs is null then '{}' else jsonb_build_object('refs', e.refs) end order by e.seq), '[]')
    into v_carried from lanefold._entry e
    where e.thread_id = p_thread_id and e.context_ref = p_context_ref and e.kind = 'ai_message' and e.seq > v_base;
    v_carried := (p_operation -> 'result_context' -> 'entries') || v_carried;
    if (select h.anchor_seq from lanefold._lane_head(p_thread_id, p_context_ref) h) > v_base or lanefold._messages_problem(v_carried) is not null then
      insert into lanefold.context_op (thread_id, op_id, context_ref, type, reason, status, hash, created_at, settled_at)
      values (p_thread_id, p_op_id, p_context_ref, 'replace', 'compaction', 'stale', coalesce(p_hash, ''), v_at, v_at)
      on conflict (thread_id, op_id) do update set status = 'stale', operation = null, settled_at = v_at;
      return null;
    end if;
    v_operation := jsonb_set(p_operation, '{result_context,entries}', v_carried);
  end if;
  if v_replace and p_operation ->> 'reason' = 'compaction' then
    v_carried := lanefold._durable_messages(p_thread_id, p_context_ref, coalesce(v_base, 9223372036854775807));
    if v_carried <> '[]' then
      v_operation := jsonb_set(v_operation, '{result_context,entries}', lanefold._merge_durable(v_operation -> 'result_context' -> 'entries', v_carried));
    end if;
  end if;
  update lanefold.thread
  set rev = rev + 1, active_context_ref = case when p_switch then p_context_ref else active_context_ref end, updated_at = v_at
  where id = p_thread_id returning rev - 1 into v_seq;
  perform lanefold._insert_entries(p_thread_id, v_seq, v_at, jsonb_build_array(jsonb_build_object('kind', 'ai_context_operation',
    'op_id', p_op_id, 'is_anchor', v_replace, 'payload', jsonb_build_object('operation', v_operation))), p_context_ref);
  perform lanefold._touch_lane(p_thread_id, p_context_ref);
  insert into lanefold.context_op (thread_id, op_id, context_ref, type, reason, status, hash, entry_seq, created_at, settled_at)
  values (p_thread_id, p_op_id, p_context_ref, p_operation ->> 'type', p_operation ->> 'reason', 'applied', coalesce(p_hash, ''), v_seq, v_at, v_at)
  on conflict (thread_id, op_id) do update set status = 'applied', operation = null, entry_seq = v_seq, settled_at = v_at;
  return v_seq;
end $$;
