-- Revokes the rights that grant_role gave a role of the server. Its open sessions lose them at once.
create or replace function lanefold.revoke_role(p_role text)
returns void language plpgsql as $$
declare
  v_view regclass;
begin
  delete from lanefold._role where name = p_role;
  execute format('revoke all on all tables in schema lanefold from %I', p_role);
  -- Citus applies `on all tables` on its nodes to tables only, not to views
  for v_view in select oid::regclass from pg_class where relnamespace = 'lanefold'::regnamespace and relkind = 'v' loop
    execute format('revoke all on %s from %I', v_view, p_role);
  end loop;
  execute format('revoke all on all functions in schema lanefold from %I', p_role);
  execute format('revoke all on schema lanefold from %I', p_role);
  if to_regnamespace('bullmq') is not null
      and coalesce(pg_has_role((select nspowner from pg_namespace where nspname = 'bullmq'), 'usage'), false) then
    execute format('revoke all on all tables in schema bullmq from %I', p_role);
    execute format('revoke all on all sequences in schema bullmq from %I', p_role);
    execute format('revoke all on all functions in schema bullmq from %I', p_role);
    execute format('revoke all on schema bullmq from %I', p_role);
  end if;
end $$;
