-- Whether the role that logged in may see all tenants. The three questions about the role are declared immutable, though they read
-- the catalog: then the planner answers them, once for a plan, and a policy costs a statement next to nothing. A session cannot
-- change its role, and grant_role changes the rights on the schema, at which PostgreSQL discards every plan of every session. A
-- superuser who becomes somebody with `set session authorization` has to `discard plans`. In plpgsql, because a node of Citus asks anew for
-- each statement, and a function in SQL would be set up each time. It names the schema of everything: a search_path of its own would
-- cost each of those statements more, and with the caller's a reader could put types and functions of its own in the place of these.
create or replace function lanefold._sees_all()
returns boolean language plpgsql immutable parallel safe as $$
begin
  return pg_catalog.has_function_privilege(session_user, 'lanefold._all_tenants()'::pg_catalog.regprocedure, 'execute');
end $$;
