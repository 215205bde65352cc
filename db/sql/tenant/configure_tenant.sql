-- Sets the limits of a tenant: what all its keys together may do. Raises LF016.
create or replace function lanefold.configure_tenant(p_tenant_id text, p_limits jsonb)
returns void language plpgsql as $$
begin
  perform lanefold._check_id(p_tenant_id, 'tenant id');
  insert into lanefold._tenant (tenant_id, limits, updated_at) values (p_tenant_id, p_limits, lanefold._now())
  on conflict (tenant_id) do update set limits = p_limits, updated_at = excluded.updated_at;
end $$;
