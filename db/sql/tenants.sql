-- Row-level security: a row is there for its tenant and for those who may see all tenants. FORCE holds the owner to it as well,
-- as whom views and functions work, so a table is protected whoever reads it through what. A table gets its policy by having a
-- tenant_id. Every step takes the table from its writers, so nothing is done twice.
do $$
declare
  c record;
  v_trigger name;
  -- The planner knows the role and keeps one branch. No sub-select: to set one up costs more than all else a policy does. And
  -- `is not null`, which the planner expects of nearly every row: by the comparison alone it would expect one in a hundred, and
  -- read a table whole where an index gives the first rows in order.
  v_policy constant text := $policy$using (case
    when lanefold._sees_all() then
      (case when coalesce(current_setting('lanefold.tenant', true), '') in ('', '*', tenant_id) then true end) is not null
    when lanefold._chooses_tenant() then current_setting('lanefold.tenant', true) = tenant_id
    else lanefold._bound_tenant() = '*' or lanefold._bound_tenant() = tenant_id end)$policy$;
  -- Also the rows of no tenant, for a process that acts for none in particular: it looks up whose a key is, and writes the audit.
  v_policy_of_operators constant text := $policy$using (case
    when lanefold._sees_all() or lanefold._chooses_tenant() then
      coalesce(current_setting('lanefold.tenant', true), '') in ('', '*', tenant_id)
    else lanefold._bound_tenant() = tenant_id end)$policy$;
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
    execute format('create policy tenant on %s %s', c.name, v_policy_of_operators);
    execute format('alter table %s enable row level security, force row level security', c.name);
  end loop;
  -- of no tenant, so there for nobody who acts for one
  if not (select relforcerowsecurity from pg_class where oid = 'lanefold._worker'::regclass) then
    create policy tenant on lanefold._worker using (case
      when lanefold._sees_all() then coalesce(current_setting('lanefold.tenant', true), '') in ('', '*')
      when lanefold._chooses_tenant() then coalesce(current_setting('lanefold.tenant', true), '') = ''
      else lanefold._bound_tenant() = '*' end);
    alter table lanefold._worker enable row level security, force row level security;
  end if;
  if not (select relforcerowsecurity from pg_class where oid = 'lanefold._role'::regclass) then
    create policy own on lanefold._role
      using (name = session_user or has_function_privilege(session_user, 'lanefold._all_tenants()', 'execute'));
    alter table lanefold._role enable row level security, force row level security;
  end if;
end $$;
