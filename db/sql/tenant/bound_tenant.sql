-- The tenant of a reader's role, '*' for all; null if grant_role bound the role to none. The role is the one that
-- logged in, whatever `set role` says. Immutable: see _sees_all. A Citus node evaluates every branch of a policy for
-- each statement, so roles without a bound tenant return before the table is read.
create or replace function lanefold._bound_tenant()
returns text language plpgsql immutable parallel safe security definer set search_path = pg_catalog, pg_temp as $$
begin
  if lanefold._sees_all() or lanefold._chooses_tenant() then
    return null;
  end if;
  return (select r.tenant from lanefold._role r where r.name = session_user);
end $$;
