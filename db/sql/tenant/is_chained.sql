-- Whether new threads of a tenant get a chain: see configure_tenant.
create or replace function lanefold._is_chained(p_tenant text)
returns boolean language plpgsql stable as $$
begin
  return exists (select from lanefold._tenant where tenant_id = p_tenant and chained);
end $$;
