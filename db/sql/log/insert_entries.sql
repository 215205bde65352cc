-- Inserts drafts [{kind?, context_ref?, role?, payload, refs?, op_id?, is_anchor?}] from the seq p_first on. Checks
-- nothing: callers hold the lock of the thread, have validated the drafts and move its `rev`.
create or replace function lanefold._insert_entries(
  p_thread_id text, p_first bigint, p_at timestamptz, p_entries jsonb,
  p_context_ref text, p_run_id text default null, p_request_id text default null
) returns void language plpgsql as $$
declare
  v_tenant text;
  v_chained boolean;
begin
  select tenant_id, chained into v_tenant, v_chained from lanefold.thread where id = p_thread_id;
  insert into lanefold._entry (thread_id, tenant_id, seq, at, kind, context_ref, role, op_id, run_id, request_id, is_anchor, payload, refs, bytes,
    hash)
  select p_thread_id, v_tenant, p_first + n - 1, p_at,
         coalesce(e ->> 'kind', 'ai_message'), coalesce(e ->> 'context_ref', p_context_ref),
         e ->> 'role', e ->> 'op_id', coalesce(p_run_id, e ->> 'run_id'),
         nullif(coalesce(p_request_id, e ->> 'request_id'), coalesce(p_run_id, e ->> 'run_id')),
         coalesce((e -> 'is_anchor')::boolean, false), e -> 'payload', nullif(e -> 'refs', 'null'), pg_column_size(e -> 'payload') + pg_column_size(coalesce(nullif(e -> 'refs', 'null'), '{}')),
         case when v_chained then ''::bytea end
  from jsonb_array_elements(p_entries) with ordinality as x (e, n);
end $$;
