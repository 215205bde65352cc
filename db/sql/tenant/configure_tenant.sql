-- Changes the given settings of a tenant: p {limits?, chained?, by?}. Audited. `limits` applies to all its keys together; with
-- `chained`, threads created from now on have tamper evidence. Raises LF016.
create or replace function lanefold.configure_tenant(p_tenant_id text, p jsonb)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
begin
  perform lanefold._check_id(p_tenant_id, 'tenant id');
  insert into lanefold._tenant (tenant_id, updated_at) values (p_tenant_id, v_at) on conflict (tenant_id) do nothing;
  update lanefold._tenant
  set limits = coalesce(p -> 'limits', limits), chained = coalesce((p -> 'chained')::boolean, chained), updated_at = v_at
  where tenant_id = p_tenant_id;
  perform lanefold.write_audit(jsonb_build_object('actor', p ->> 'by', 'action', 'tenants.configure', 'tenant_id', p_tenant_id,
    'detail', p - 'by'));
end $$;
