-- Policies do not bind superusers. Views and functions have the rights of their owner, so what a superuser migrated would show
-- every tenant's rows to everybody who may read the view: it is given to the owner of the schema or, where that is such a role
-- as well, to lanefold_owner, as which nobody can log in.
do $$
declare
  o record;
  v_owner name;
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
      null; -- of another database of this server
    end;
    execute format('grant create on database %I to lanefold_owner', current_database());
    alter schema lanefold owner to lanefold_owner;
  end if;
  for o in
    select format('alter %s %s owner to %I', case c.relkind when 'v' then 'view' else 'table' end, c.oid::regclass, v_owner) as statement
    from pg_class c where c.relnamespace = 'lanefold'::regnamespace and c.relkind in ('r', 'p', 'v') and c.relowner <> v_owner::regrole
    union all
    select format('alter function %s owner to %I', p.oid::regprocedure, v_owner)
    from pg_proc p where p.pronamespace = 'lanefold'::regnamespace and p.proowner <> v_owner::regrole
    union all
    -- what else members of the owner need who migrate: the records of migrations, and BullMQ's objects
    select format('alter table %s owner to %I', c.oid::regclass, v_owner)
    from pg_class c where c.oid = to_regclass('drizzle.__lanefold_migrations') and c.relowner <> v_owner::regrole
    union all
    select format('grant usage, create on schema drizzle to %I', v_owner)
    where not coalesce(has_schema_privilege(v_owner, to_regnamespace('drizzle')::oid, 'create'), true)
    union all
    select format('alter schema bullmq owner to %I', v_owner)
    from pg_namespace n where n.nspname = 'bullmq' and n.nspowner = current_user::regrole
    union all
    select format('alter %s %s owner to %I', case c.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end, c.oid::regclass, v_owner)
    from pg_class c
    where c.relnamespace = to_regnamespace('bullmq') and c.relowner = current_user::regrole and (c.relkind in ('r', 'p', 'v')
      or c.relkind = 'S' and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')))
    union all
    select format('alter routine %s owner to %I', p.oid::regprocedure, v_owner)
    from pg_proc p where p.pronamespace = to_regnamespace('bullmq') and p.proowner = current_user::regrole
    union all
    select format('alter type %s owner to %I', t.oid::regtype, v_owner)
    from pg_type t where t.typnamespace = to_regnamespace('bullmq') and t.typowner = current_user::regrole and t.typtype in ('e', 'd')
  loop
    execute o.statement;
  end loop;
end $$;
