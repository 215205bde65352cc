-- Public functions have the rights of the owner and a search_path of their own, which costs a call 1 µs: the right to execute one
-- is all a role needs, and what it may do is what it may execute. Private functions keep the path of whoever calls them and can be
-- executed by the owner alone; where the library's own statements call one, _give_rights says so. The triggers that guard the log
-- work with the rights of whoever writes: what they call is everybody's.
do $$
declare
  v_function regprocedure;
  v_role record;
begin
  for v_function in
    select p.oid from pg_catalog.pg_proc p join pg_catalog.pg_language l on l.oid = p.prolang
    where p.pronamespace = 'lanefold'::regnamespace and p.proname !~ '^_' and l.lanname = 'plpgsql'
      and p.proname not in ('grant_role', 'revoke_role')
  loop
    execute format('alter function %s security definer set search_path = pg_catalog, pg_temp', v_function);
  end loop;
  for v_function in
    select p.oid from pg_catalog.pg_proc p
    where p.pronamespace = 'lanefold'::regnamespace and p.proname not in ('schema_version', 'min_compatible_version', '_fail', '_may_erase')
      and (p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee = 0)
        -- this node has taken it back before, and another may have the function only now
        or exists (select from pg_extension where extname = 'citus'))
  loop
    execute format('revoke execute on function %s from public', v_function);
  end loop;
  for v_role in select r.name, r.duty from lanefold._role r join pg_catalog.pg_roles k on k.rolname = r.name loop
    perform lanefold._give_rights(v_role.name, v_role.duty);
  end loop;
end $$;
