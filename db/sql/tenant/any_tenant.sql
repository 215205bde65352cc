-- The right to execute this is the right to choose one tenant at a time with the setting lanefold.tenant: an API's.
create or replace function lanefold._any_tenant()
returns boolean language sql immutable parallel safe return true;
