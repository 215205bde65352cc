-- The right to execute this grants access to all tenants: the owner has it, and grant_role gives it to workers.
create or replace function lanefold._all_tenants()
returns boolean language sql immutable parallel safe return true;
