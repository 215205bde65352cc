-- Writes an audit record. p: {actor, action, tenant_id?, thread_id?, run_id?, detail?}.
create or replace function lanefold.write_audit(p jsonb)
returns void language plpgsql as $$
begin
  insert into lanefold._audit (at, tenant_id, actor, action, thread_id, run_id, detail)
  values (lanefold._now(), p ->> 'tenant_id', p ->> 'actor', p ->> 'action', p ->> 'thread_id', p ->> 'run_id',
    coalesce(p -> 'detail', '{}'));
end $$;
