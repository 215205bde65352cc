-- Stores large texts of a thread, each once. p_contents: [{id, text}]. The caller holds the lock of the thread and, in
-- the same transaction, writes the row that quotes them: a message, or a request, input or operation that becomes one
-- later.
create or replace function lanefold._store_contents(p_thread_id text, p_tenant_id text, p_contents jsonb)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
begin
  insert into lanefold.content (thread_id, tenant_id, id, chars, bytes, created_at, text)
  select p_thread_id, p_tenant_id, c ->> 'id', length(c ->> 'text'), octet_length(c ->> 'text'), v_at, c ->> 'text'
  from jsonb_array_elements(p_contents) c
  on conflict (thread_id, id) do nothing;
end $$;
