-- Grants a role of the server the rights its duty needs and revokes all others: `worker` executes runs of all tenants,
-- `api` acts for one tenant at a time and names it, `reader` reads the public views of p_tenant, '*' for all. Rights
-- are to execute functions and to read; only the owner may write to tables. Call it as the owner. Raises LF014 for an
-- unknown duty or a role that does not exist.
create or replace function lanefold.grant_role(p_role text, p_duty text, p_tenant text default null)
returns void language plpgsql as $$
begin
  if coalesce(p_duty, '') not in ('worker', 'api', 'reader') or (p_duty = 'reader') <> (p_tenant is not null) then
    perform lanefold._fail('LF014', format('The duty %s with tenant %s is invalid.', coalesce(p_duty, '(none)'), coalesce(p_tenant, '(none)')),
      'Pass worker or api without a tenant, or reader with a tenant or ''*'' for all.');
  elsif not exists (select from pg_roles where rolname = p_role) then
    perform lanefold._fail('LF014', format('Role %s does not exist.', p_role), 'Create it first, with `create role`.');
  end if;
  perform lanefold.revoke_role(p_role);
  insert into lanefold._role (name, duty, tenant) values (p_role, p_duty, p_tenant);
  perform lanefold._give_rights(p_role, p_duty);
  perform lanefold._give_queue();
end $$;
