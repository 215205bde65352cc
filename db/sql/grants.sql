-- Public functions run with the rights of the owner and a fixed search_path, which costs 1 µs per call. A role
-- therefore only needs the right to execute them, and its rights are the functions it may execute. Private functions
-- use the caller's search_path and only the owner may execute them; _give_rights lists the exceptions, which
-- statements of the library call. The triggers that protect the log run with the rights of the writer, so every role
-- may execute the functions they call.
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
        -- this node may have revoked it already while another node has only just got the function
        or exists (select from pg_extension where extname = 'citus'))
  loop
    execute format('revoke execute on function %s from public', v_function);
  end loop;
  -- not joined with pg_roles: for that, Citus would need the right to read pg_authid
  for v_role in select r.name, r.duty from lanefold._role r where to_regrole(quote_ident(r.name)) is not null loop
    perform lanefold._give_rights(v_role.name, v_role.duty);
  end loop;
end $$;

-- The functions of limits see those of all tenants in every session: a run of a tenant takes from the
-- operator's limits too. An import of a tenant reads how far runs are counted. name_key reads the secret, which no session sees. They run as the owner, which owner.sql may have
-- changed.
do $$
declare
  v_table regclass;
  v_owner name;
begin
  for v_table, v_owner in
    select c.oid, c.relowner::regrole::text from pg_catalog.pg_class c
    where c.oid in ('lanefold._limit'::regclass, 'lanefold._limit_bucket'::regclass, 'lanefold._limit_share'::regclass, 'lanefold._limit_wait'::regclass, 'lanefold._limit_account'::regclass, 'lanefold._activity_state'::regclass, 'lanefold._secret'::regclass)
      and not exists (select from pg_catalog.pg_policy p where p.polrelid = c.oid and p.polname = 'functions' and p.polroles = array[c.relowner])
  loop
    execute format('drop policy if exists functions on %s', v_table);
    execute format('create policy functions on %s to %s using (true)', v_table, v_owner);
  end loop;
end $$;
