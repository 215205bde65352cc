-- Grants rights on BullMQ's tables to the owner, whose functions add jobs, and to the roles that take and show them.
-- If another role created the tables, that role has to grant these rights.
create or replace function lanefold._give_queue()
returns void language plpgsql as $$
declare
  v_name name;
begin
  if not coalesce(pg_has_role((select nspowner from pg_namespace where nspname = 'bullmq'), 'usage'), false) then
    return;
  end if;
  for v_name in
    select r.rolname from pg_roles r
    where (r.oid = (select nspowner from pg_namespace where nspname = 'lanefold')
        or exists (select from lanefold._role d where d.name = r.rolname and d.duty in ('worker', 'api')))
      and exists (select from pg_class c where c.relnamespace = 'bullmq'::regnamespace and c.relkind in ('r', 'p')
                    and not has_table_privilege(r.oid, c.oid, 'select, insert, update, delete'))
  loop
    execute format('grant usage on schema bullmq to %I', v_name);
    execute format('grant select, insert, update, delete on all tables in schema bullmq to %I', v_name);
    execute format('grant usage on all sequences in schema bullmq to %I', v_name);
    execute format('grant execute on all functions in schema bullmq to %I', v_name);
  end loop;
end $$;
