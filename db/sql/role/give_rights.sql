-- Grants a role the rights its duty needs. Also runs after each migration, which may have added objects. With Citus, a
-- view reads private tables with the rights of the session, so a reader may read those of its views; policies hold for
-- them, too. There, a reader of one tenant may call no public function, and loses the right to it: one that is not
-- delegated to a node runs as the owner on the coordinator, which then reads the rows of all tenants from the nodes.
create or replace function lanefold._give_rights(p_role text, p_duty text)
returns void language plpgsql as $$
declare
  v_relation regclass;
  v_column name;
  v_function regprocedure;
  v_citus constant boolean := exists (select from pg_extension where extname = 'citus');
  v_calls constant boolean := p_duty <> 'reader' or not v_citus or exists (select from lanefold._role where name = p_role and tenant = '*');
begin
  if not v_calls then
    execute format('revoke execute on all functions in schema lanefold from %I', p_role);
  end if;
  execute format('grant usage on schema lanefold to %I', p_role);
  for v_relation in
    select c.oid::regclass from pg_class c
    where c.relnamespace = 'lanefold'::regnamespace and c.relkind in ('r', 'p', 'v')
      and c.relname not in ('_context_before', '_webhook', '_secret')
      and (p_duty <> 'reader' or c.oid in (select lanefold._read_by_readers(v_citus)))
  loop
    execute format('grant select on %s to %I', v_relation, p_role);
  end loop;
  -- no role reads the secrets of webhooks: the functions that sign with them and renew them have the rights of the owner
  for v_column in
    select a.attname from pg_attribute a
    where a.attrelid = 'lanefold._webhook'::regclass and a.attnum > 0 and not a.attisdropped and a.attname <> 'secrets'
      and (p_duty <> 'reader' or v_citus)
  loop
    execute format('grant select (%I) on lanefold._webhook to %I', v_column, p_role);
  end loop;
  for v_function in
    select p.oid::regprocedure from pg_proc p
    where p.pronamespace = 'lanefold'::regnamespace and case
      -- called by policies, with the rights of the role that reads the table
      when p.proname in ('_sees_all', '_chooses_tenant', '_bound_tenant') then true
      when p.proname = '_all_tenants' then p_duty = 'worker'
      when p.proname = '_any_tenant' then p_duty = 'api'
      -- called by statements of the library
      when p.proname in ('_now', '_lease_over', '_lane_prompt', '_agent_queue', '_delivery_id', '_for_tenant', '_has_tools') then p_duty <> 'reader'
      when p.proname ~ '^_' or p.proname in ('grant_role', 'revoke_role') then false
      -- also those that only read: the functions of limits see those of all tenants
      when lanefold._is_for_workers(p.proname) then p_duty = 'worker'
      when lanefold._is_for_apis(p.proname) then p_duty = 'api'
      when p.provolatile <> 'v' then v_calls
      else p_duty <> 'reader' end
  loop
    execute format('grant execute on function %s to %I', v_function, p_role);
  end loop;
end $$;
