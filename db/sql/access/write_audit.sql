-- Writes down who does what. p: {actor, action, tenant_id?, thread_id?, run_id?, detail?}. Without a tenant it is that of the
-- thread, who may read what others do to what is theirs.
create or replace function lanefold.write_audit(p jsonb)
returns void language plpgsql as $$
begin
  insert into lanefold._audit (at, tenant_id, actor, action, thread_id, run_id, detail)
  values (lanefold._now(), coalesce(p ->> 'tenant_id', (select t.tenant_id from lanefold.thread t where t.id = p ->> 'thread_id')),
    p ->> 'actor', p ->> 'action', p ->> 'thread_id', p ->> 'run_id',
    coalesce(p -> 'detail', '{}'));
end $$;
