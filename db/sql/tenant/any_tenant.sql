-- The right to execute this lets a role choose one tenant at a time with the setting lanefold.tenant: grant_role gives
-- it to APIs.
create or replace function lanefold._any_tenant()
returns boolean language sql immutable parallel safe return true;
