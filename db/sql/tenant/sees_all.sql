-- Whether the role that logged in may see all tenants. The three functions about that role read the catalog but are
-- declared immutable, so that the planner evaluates them once per plan and a policy adds almost nothing to a
-- statement. Their results cannot go stale: a session cannot change the role that logged in, and grant_role changes
-- the rights on the schema, which makes PostgreSQL discard every session's plans. After `set session authorization`, a
-- superuser has to run `discard plans`. The three are in plpgsql because Citus nodes call them for every statement,
-- and an SQL function is set up on each call. They qualify every name: with the caller's search_path, a reader could
-- shadow a type or function and see all tenants, and a search_path of their own would slow each call down.
create or replace function lanefold._sees_all()
returns boolean language plpgsql immutable parallel safe as $$
begin
  return pg_catalog.has_function_privilege(session_user, 'lanefold._all_tenants()'::pg_catalog.regprocedure, 'execute');
end $$;
