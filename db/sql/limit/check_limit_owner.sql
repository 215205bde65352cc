-- Raises LF014 if a session that acts for one tenant names another one, or the operator (`*`), and LF016 for what is no
-- tenant. A session that names no tenant acts for the operator, as it does for keys and the settings of tenants.
create or replace function lanefold._check_limit_owner(p_owner text)
returns void language plpgsql stable as $$
begin
  if p_owner is distinct from '*' then
    perform lanefold._check_id(p_owner, 'tenant id');
  end if;
  if coalesce(current_setting('lanefold.tenant', true), '') not in ('', '*', p_owner) then
    perform lanefold._fail('LF014', 'A tenant sets its own limits only.', 'Nothing was written.');
  end if;
end $$;
