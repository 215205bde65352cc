-- The tenant whose rows this session reads and writes: '*' for all, null or '' for none. The setting lanefold.tenant narrows
-- what a role may, and never widens it: a worker has all tenants unless it names one, an API none unless it names one, a
-- reader the one its role is bound to. Not expanded in place: a statement would set up the whole expression for each of its tables.
create or replace function lanefold._scope()
returns text language plpgsql stable parallel safe as $$
begin
  return case
    when has_function_privilege(session_user, 'lanefold._all_tenants()'::regprocedure, 'execute') then
      coalesce(nullif(current_setting('lanefold.tenant', true), ''), '*')
    when has_function_privilege(session_user, 'lanefold._any_tenant()'::regprocedure, 'execute') then
      nullif(current_setting('lanefold.tenant', true), '*')
    else lanefold._bound_tenant() end;
end $$;
