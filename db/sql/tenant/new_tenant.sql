-- The tenant of a thread to be created: p.tenant_id, else the tenant of the session, else `default`. The policy of the
-- table rejects a tenant outside the scope of the session.
create or replace function lanefold._new_tenant(p jsonb)
returns text language plpgsql stable as $$
declare
  v_tenant constant text := coalesce(p ->> 'tenant_id', nullif(lanefold._scope(), '*'), 'default');
begin
  perform lanefold._check_id(v_tenant, 'tenant id');
  return v_tenant;
end $$;
