-- The right to execute this is the right to all tenants: the owner's, and what grant_role gives workers.
create or replace function lanefold._all_tenants()
returns boolean language sql immutable parallel safe return true;
