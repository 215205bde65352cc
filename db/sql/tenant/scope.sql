-- The tenant whose rows this session reads and writes: '*' for all, null or '' for none. The setting lanefold.tenant
-- narrows the rights of a role and never widens them: a worker has all tenants unless it names one, an API none unless
-- it names one, a reader the one its role is bound to. The policies apply the same rule to each row.
create or replace function lanefold._scope()
returns text language plpgsql stable parallel safe as $$
begin
  return case
    when lanefold._sees_all() then coalesce(nullif(current_setting('lanefold.tenant', true), ''), '*')
    when lanefold._chooses_tenant() then nullif(current_setting('lanefold.tenant', true), '*')
    else lanefold._bound_tenant() end;
end $$;
