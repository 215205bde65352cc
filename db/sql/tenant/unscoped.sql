-- Whether this session is a process's and acts for no tenant in particular: it looks up whose a key is, and writes the audit.
create or replace function lanefold._unscoped()
returns boolean language sql stable parallel safe
return coalesce(current_setting('lanefold.tenant', true), '') in ('', '*')
  and (has_function_privilege(session_user, 'lanefold._all_tenants()'::regprocedure, 'execute')
    or has_function_privilege(session_user, 'lanefold._any_tenant()'::regprocedure, 'execute'));
