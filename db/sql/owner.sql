-- Policies do not bind superusers. Views and functions run with the rights of their owner, so objects owned by a
-- superuser would show the rows of all tenants to every role that may read a view. Objects that a superuser migrated
-- are therefore given to the owner of the schema or, if that is also a superuser or bypasses policies, to
-- lanefold_owner, a role without login.
do $$
declare
  o record;
  v_owner name;
  v_owner_id oid;
  v_own_id constant oid := (select oid from pg_roles where rolname = current_user);
begin
  if not (select rolsuper from pg_roles where rolname = current_user) then
    return;
  end if;
  select r.rolname into v_owner from pg_namespace n join pg_roles r on r.oid = n.nspowner
  where n.nspname = 'lanefold' and not r.rolsuper and not r.rolbypassrls;
  if v_owner is null then
    v_owner := 'lanefold_owner';
    begin
      create role lanefold_owner nologin;
    exception when duplicate_object or unique_violation then
      null; -- another database of this server has created it
    end;
    execute format('grant create on database %I to lanefold_owner', current_database());
    alter schema lanefold owner to lanefold_owner;
  end if;
  v_owner_id := (select oid from pg_roles where rolname = v_owner);
  for o in
    select format('alter %s %s owner to %I', case c.relkind when 'v' then 'view' when 'c' then 'type' else 'table' end, c.oid::regclass, v_owner) as statement
    from pg_class c where c.relnamespace = 'lanefold'::regnamespace and c.relkind in ('r', 'p', 'v', 'c') and c.relowner <> v_owner_id
    union all
    select format('alter function %s owner to %I', p.oid::regprocedure, v_owner)
    from pg_proc p where p.pronamespace = 'lanefold'::regnamespace and p.proowner <> v_owner_id
    union all
    -- members of the owner role also need these to migrate: the records of migrations, and BullMQ's objects
    select format('alter table %s owner to %I', c.oid::regclass, v_owner)
    from pg_class c where c.oid = to_regclass('drizzle.__lanefold_migrations') and c.relowner <> v_owner_id
    union all
    select format('grant usage, create on schema drizzle to %I', v_owner)
    where not coalesce(has_schema_privilege(v_owner, to_regnamespace('drizzle')::oid, 'create'), true)
    union all
    -- Citus hands each `create schema if not exists` to its nodes, which then ask for the owner of the schema
    select format('alter schema drizzle owner to %I', v_owner)
    from pg_namespace n where n.nspname = 'drizzle' and n.nspowner = v_own_id and exists (select from pg_extension where extname = 'citus')
    union all
    select format('alter schema bullmq owner to %I', v_owner)
    from pg_namespace n where n.nspname = 'bullmq' and n.nspowner = v_own_id
    union all
    select format('alter %s %s owner to %I', case c.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end, c.oid::regclass, v_owner)
    from pg_class c
    where c.relnamespace = to_regnamespace('bullmq') and c.relowner = v_own_id and (c.relkind in ('r', 'p', 'v')
      or c.relkind = 'S' and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')))
    union all
    select format('alter routine %s owner to %I', p.oid::regprocedure, v_owner)
    from pg_proc p where p.pronamespace = to_regnamespace('bullmq') and p.proowner = v_own_id
    union all
    select format('alter type %s owner to %I', t.oid::regtype, v_owner)
    from pg_type t where t.typnamespace = to_regnamespace('bullmq') and t.typowner = v_own_id and t.typtype in ('e', 'd')
  loop
    execute o.statement;
  end loop;
end $$;
