-- Functions that read have the rights of their owner, as views have, so that a reader needs no right on private tables: the
-- right to execute them is then one to read, and not everybody's. A role that may read the log anyway, as a worker's that does
-- not own the schema, keeps it. Only functions with the rights of their owner, and those that guard the log, have a search_path
-- of their own: it costs a call 1 µs, and everywhere else a caller only has the rights it came with.
do $$
declare
  v_function regprocedure;
  v_role regrole;
begin
  for v_function in
    select p.oid from pg_catalog.pg_proc p join pg_catalog.pg_language l on l.oid = p.prolang
    where p.pronamespace = 'lanefold'::regnamespace and p.proname !~ '^_' and p.provolatile <> 'v' and l.lanname = 'plpgsql'
  loop
    execute format('alter function %s security definer set search_path = pg_catalog, pg_temp', v_function);
    execute format('revoke execute on function %s from public', v_function);
    for v_role in
      select distinct a.grantee from pg_catalog.pg_class c cross join lateral aclexplode(c.relacl) a
      where c.oid = 'lanefold._entry'::regclass and a.privilege_type = 'SELECT' and a.grantee <> c.relowner and a.grantee <> 0
    loop
      execute format('grant execute on function %s to %s', v_function, v_role);
    end loop;
  end loop;
end $$;

-- Erasing has the rights of its owner as well, and deletes: it is nobody's without a grant. A role that could erase while that
-- took the right to delete entries keeps it over the upgrade; that right does nothing else any more and can be revoked.
do $$
declare
  v_role regrole;
begin
  revoke execute on function lanefold.erase_thread(text) from public;
  for v_role in
    select distinct a.grantee from pg_catalog.pg_class c cross join lateral aclexplode(c.relacl) a
    where c.oid = 'lanefold._entry'::regclass and a.privilege_type = 'DELETE' and a.grantee <> c.relowner and a.grantee <> 0
  loop
    execute format('grant execute on function lanefold.erase_thread(text) to %s', v_role);
  end loop;
end $$;
