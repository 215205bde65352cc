-- Takes from a role of the server what grant_role gave it. Sessions it has open lose their rights at once.
create or replace function lanefold.revoke_role(p_role text)
returns void language plpgsql as $$
begin
  delete from lanefold._role where name = p_role;
  execute format('revoke all on all tables in schema lanefold from %I', p_role);
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
