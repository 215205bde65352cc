-- Inserts drafts [{kind?, context_ref?, role?, payload, refs?, op_id?, is_anchor?, run_id?, request_id?}] from the seq p_first on. Checks
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
  insert into lanefold._entry
  select (lanefold._entry_of(p_thread_id, v_tenant, v_chained, p_first + n - 1, p_at, p_context_ref, p_run_id, p_request_id, e)).*
  from jsonb_array_elements(p_entries) with ordinality as x (e, n);
  if p_first > 0 and p_entries @? '$[*] ? (@.is_anchor == true || @.payload.field == "system_prompt")' then
    update lanefold.thread set altered = true where id = p_thread_id and not altered;
  end if;
end $$;
