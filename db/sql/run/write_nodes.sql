-- Writes the results of a strategy: [{node, status, kind?: thought, parent?, depth?, score?, content?, call_no?,
-- usage?, elapsed_ms?, data?}], each node once. An existing node gets the new status and the keys of data, and keeps
-- everything its draft leaves out. The caller holds the lock of the thread.
create or replace function lanefold._write_nodes(p_thread_id text, p_tenant_id text, p_run_id text, p_nodes jsonb)
returns void language plpgsql as $$
begin
  insert into lanefold._run_node as k (thread_id, tenant_id, run_id, node, parent, depth, kind, status, score, content, call_no, usage,
    elapsed_ms, data)
  select p_thread_id, p_tenant_id, p_run_id, (n ->> 'node')::int, (n ->> 'parent')::int, (n ->> 'depth')::int, coalesce(n ->> 'kind', 'thought'),
         n ->> 'status', (n ->> 'score')::float8, n ->> 'content', (n ->> 'call_no')::int, n -> 'usage',
         (n ->> 'elapsed_ms')::bigint, n -> 'data'
  from jsonb_array_elements(p_nodes) n
  on conflict (thread_id, run_id, node) do update
  set status = excluded.status, score = coalesce(excluded.score, k.score), content = coalesce(excluded.content, k.content),
      call_no = coalesce(excluded.call_no, k.call_no), usage = coalesce(excluded.usage, k.usage),
      elapsed_ms = coalesce(excluded.elapsed_ms, k.elapsed_ms), data = coalesce(k.data || excluded.data, excluded.data, k.data);
end $$;
