-- The tenant whose rows this session reads and writes: '*' for all, null or '' for none. The setting lanefold.tenant narrows
-- what a role may, and never widens it: a worker has all tenants unless it names one, an API none unless it names one, a
-- reader the one its role is bound to. Policies ask once a statement, in a sub-select, where this is expanded in place.
create or replace function lanefold._scope()
returns text language sql stable parallel safe
return case
  when has_function_privilege(session_user, 'lanefold._all_tenants()'::regprocedure, 'execute') then
    coalesce(nullif(current_setting('lanefold.tenant', true), ''), '*')
  when has_function_privilege(session_user, 'lanefold._any_tenant()'::regprocedure, 'execute') then
    nullif(current_setting('lanefold.tenant', true), '*')
  else lanefold._bound_tenant()
end;
