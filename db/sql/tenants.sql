-- Row-level security: a row is visible to its tenant and to roles that may see all tenants. FORCE applies the policies
-- to the owner as well, because views and functions run with its rights; a table is thus protected however it is read.
-- Every table with a tenant_id gets a policy. Each step locks the table against writers, so steps already done are
-- skipped.
do $$
declare
  c record;
  -- The planner knows the role and keeps one branch. No sub-select, because setting one up costs more than the rest of
  -- the policy. With `is not null` the planner expects nearly every row to match. With the comparison alone it would
  -- expect one in a hundred, and read a whole table where an index returns the first rows in order.
  v_policy constant text := $policy$using (case
    when lanefold._sees_all() then
      (case when coalesce(current_setting('lanefold.tenant', true), '') in ('', '*', tenant_id) then true end) is not null
    when lanefold._chooses_tenant() then current_setting('lanefold.tenant', true) = tenant_id
    else lanefold._bound_tenant() = '*' or lanefold._bound_tenant() = tenant_id end)$policy$;
  -- Includes rows without a tenant, for a process that acts for no particular tenant: it looks up API keys and writes
  -- the audit.
  v_policy_of_operators constant text := $policy$using (case
    when lanefold._sees_all() or lanefold._chooses_tenant() then
      coalesce(current_setting('lanefold.tenant', true), '') in ('', '*', tenant_id)
    else lanefold._bound_tenant() = tenant_id end)$policy$;
begin
  for c in
    select k.oid::regclass as name, k.relrowsecurity and k.relforcerowsecurity as forced,
           exists (select from pg_policy p where p.polrelid = k.oid and p.polname = 'tenant') as protected
    from pg_class k join pg_attribute a on a.attrelid = k.oid and a.attname = 'tenant_id' and not a.attisdropped
    where k.relnamespace = 'lanefold'::regnamespace and k.relkind in ('r', 'p')
      and k.relname not in ('_api_key', '_audit', '_tenant', '_schedule', '_schedule_slot', '_webhook')
  loop
    if not c.protected then
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
  -- workers, the versions of their agents and the circuits of models have no tenant, and runs of all tenants are counted together, so
  -- a session that acts for one does not see them
  for c in
    select k.oid::regclass as name from pg_class k
    where k.oid in ('lanefold._worker'::regclass, 'lanefold._agent_version'::regclass, 'lanefold._activity_state'::regclass, 'lanefold._circuit'::regclass) and not k.relforcerowsecurity
  loop
    execute format($policy$create policy tenant on %s using (case
      when lanefold._sees_all() then coalesce(current_setting('lanefold.tenant', true), '') in ('', '*')
      when lanefold._chooses_tenant() then coalesce(current_setting('lanefold.tenant', true), '') = ''
      else lanefold._bound_tenant() = '*' end)$policy$, c.name);
    execute format('alter table %s enable row level security, force row level security', c.name);
  end loop;
  -- every process that accepts runs reads rollouts; the operator sets them
  if not (select relforcerowsecurity from pg_class where oid = 'lanefold._rollout'::regclass) then
    create policy read on lanefold._rollout for select using (true);
    create policy tenant on lanefold._rollout using (case
      when lanefold._sees_all() or lanefold._chooses_tenant() then coalesce(current_setting('lanefold.tenant', true), '') in ('', '*')
      else lanefold._bound_tenant() = '*' end);
    alter table lanefold._rollout enable row level security, force row level security;
  end if;
  -- a limit belongs to a tenant or to the operator
  for c in
    select k.oid::regclass as name from pg_class k
    where k.oid in ('lanefold._limit'::regclass, 'lanefold._limit_bucket'::regclass, 'lanefold._limit_share'::regclass, 'lanefold._limit_wait'::regclass) and not k.relforcerowsecurity
  loop
    execute format('create policy tenant on %s %s', c.name, replace(v_policy_of_operators, 'tenant_id', 'owner'));
    execute format('alter table %s enable row level security, force row level security', c.name);
  end loop;
  -- a process that acts for no particular tenant lists the schedules and webhooks of all
  for c in
    select k.oid::regclass as name from pg_class k
    where k.oid in ('lanefold._schedule'::regclass, 'lanefold._schedule_slot'::regclass, 'lanefold._webhook'::regclass)
      and not k.relforcerowsecurity
  loop
    execute format('create policy tenant on %s %s', c.name,
      replace(v_policy_of_operators, 'lanefold._bound_tenant() = tenant_id', '(lanefold._bound_tenant() = ''*'' or lanefold._bound_tenant() = tenant_id)'));
    execute format('alter table %s enable row level security, force row level security', c.name);
  end loop;
  -- what a run holds concerns limits of the operator too
  if not (select relforcerowsecurity from pg_class where oid = 'lanefold._limit_account'::regclass) then
    create policy tenant on lanefold._limit_account using (case
      when lanefold._sees_all() or lanefold._chooses_tenant() then coalesce(current_setting('lanefold.tenant', true), '') in ('', '*')
      else lanefold._bound_tenant() = '*' end);
    alter table lanefold._limit_account enable row level security, force row level security;
  end if;
  -- only functions read it, by the policy of grants.sql
  if not (select relforcerowsecurity from pg_class where oid = 'lanefold._secret'::regclass) then
    alter table lanefold._secret enable row level security, force row level security;
  end if;
  if not (select relforcerowsecurity from pg_class where oid = 'lanefold._role'::regclass) then
    create policy own on lanefold._role
      using (name = session_user or has_function_privilege(session_user, 'lanefold._all_tenants()', 'execute'));
    alter table lanefold._role enable row level security, force row level security;
  end if;
end $$;
