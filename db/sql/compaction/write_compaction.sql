-- Writes the compaction a run made of its own lane, as a `replace` with the reason `compaction`: messages of the
-- context as of base_seq, with a summary in place of the others. p: {op_id, base_seq, keep: [[first, last], …]
-- positions without the prompt, from 0; at: how many of these ranges precede the summary; summary: a message; meta}.
-- No other writer can add to the lane, because the caller is its active run. The caller holds the lock of the thread
-- and moves rev. Returns false and writes nothing if the lane has a newer anchor after the base, or if the result
-- would not consist of closed tool groups.
create or replace function lanefold._write_compaction(p_thread_id text, r lanefold._run, p_seq bigint, p_at timestamptz, p jsonb)
returns boolean language plpgsql as $$
declare
  v_entries jsonb := lanefold._context_snapshot(p_thread_id, r.context_ref, (p ->> 'base_seq')::bigint) -> 'entries';
  v_operation jsonb;
begin
  select to_jsonb(array_agg(x.m order by x.part, x.n)) into v_entries from (
    select 2 * k.n as part, e.n, e.m
    from jsonb_array_elements(v_entries) with ordinality as e (m, n)
    join jsonb_array_elements(p -> 'keep') with ordinality as k (range, n)
      on e.n - 1 between (k.range -> 0)::bigint and (k.range -> 1)::bigint
    union all
    select 2 * (p ->> 'at')::bigint + 1, 0, p -> 'summary') x;
  v_operation := lanefold._compact(p_thread_id, r.context_ref, jsonb_build_object('type', 'replace', 'reason', 'compaction',
    'base_seq', p -> 'base_seq', 'result_context', jsonb_build_object('entries', v_entries), 'meta', p -> 'meta'));
  if v_operation is null then
    return false;
  end if;
  perform lanefold._insert_entries(p_thread_id, p_seq, p_at, jsonb_build_array(jsonb_build_object('kind', 'ai_context_operation',
    'op_id', p -> 'op_id', 'is_anchor', true, 'payload', jsonb_build_object('operation', v_operation))), r.context_ref, r.id,
    r.request_id);
  insert into lanefold.context_op (thread_id, tenant_id, op_id, context_ref, type, reason, status, hash, entry_seq, created_at,
    settled_at)
  values (p_thread_id, r.tenant_id, p ->> 'op_id', r.context_ref, 'replace', 'compaction', 'applied', '', p_seq, p_at, p_at);
  return true;
end $$;
