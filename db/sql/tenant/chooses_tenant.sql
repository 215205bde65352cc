-- Whether the role that logged in acts for one tenant at a time and names it. Immutable: see _sees_all.
create or replace function lanefold._chooses_tenant()
returns boolean language plpgsql immutable parallel safe as $$
begin
  return pg_catalog.has_function_privilege(session_user, 'lanefold._any_tenant()'::pg_catalog.regprocedure, 'execute');
end $$;
