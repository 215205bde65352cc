-- Row-level security: a row is there for its tenant and for those who may see all tenants. FORCE holds the owner to it as well,
-- as whom views and functions work, so a table is protected whoever reads it through what. A table gets its policy by having a
-- tenant_id. Every step takes the table from its writers, so nothing is done twice.
do $$
declare
  c record;
  v_trigger name;
  -- what is read asks once a statement, in a sub-select; what is written, once a row, which costs less where rows are few
  v_policy constant text := $policy$using ((select lanefold._scope()) in ('*', tenant_id))
    with check (lanefold._scope() in ('*', tenant_id))$policy$;
begin
  for c in
    select k.oid::regclass as name, k.relname, k.relrowsecurity and k.relforcerowsecurity as forced,
           exists (select from pg_policy p where p.polrelid = k.oid and p.polname = 'tenant') as protected
    from pg_class k join pg_attribute a on a.attrelid = k.oid and a.attname = 'tenant_id' and not a.attisdropped
    where k.relnamespace = 'lanefold'::regnamespace and k.relkind in ('r', 'p') and k.relname not in ('_api_key', '_audit', '_tenant')
  loop
    if not c.protected then
      if c.relname <> 'thread' and exists (select from lanefold.thread where tenant_id <> 'default') then
        -- the one change of entries: their new column, of threads that had a tenant before rows had
        execute format('alter table %s disable trigger user', c.name);
        execute format('update %s r set tenant_id = t.tenant_id from lanefold.thread t
          where t.id = r.thread_id and t.tenant_id <> ''default'' and r.tenant_id <> t.tenant_id', c.name);
        for v_trigger in select tgname from pg_trigger where tgrelid = c.name and not tgisinternal loop
          execute format('alter table %s enable always trigger %I', c.name, v_trigger);
        end loop;
      end if;
      execute format('create policy tenant on %s %s', c.name, v_policy);
    end if;
    if not c.forced then
      execute format('alter table %s enable row level security, force row level security', c.name);
    end if;
  end loop;
  for c in
    select k.oid::regclass as name from pg_class k
    where k.oid in ('lanefold._api_key'::regclass, 'lanefold._audit'::regclass, 'lanefold._tenant'::regclass) and not k.relforcerowsecurity
  loop
    execute format('create policy tenant on %s using ((select lanefold._unscoped()) or tenant_id = (select lanefold._scope()))', c.name);
    execute format('alter table %s enable row level security, force row level security', c.name);
  end loop;
  if not (select relforcerowsecurity from pg_class where oid = 'lanefold._role'::regclass) then
    create policy own on lanefold._role
      using (name = session_user or has_function_privilege(session_user, 'lanefold._all_tenants()', 'execute'));
    alter table lanefold._role enable row level security, force row level security;
  end if;
end $$;
