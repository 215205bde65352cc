-- Audits a read of a thread by a principal without a tenant. Skips threads of the tenant `default`, so that a database
-- without tenants collects no such rows. p: {actor, action, run_id?}.
create or replace function lanefold.audit_read(p_thread_id text, p jsonb)
returns void language plpgsql as $$
declare
  v_tenant text;
begin
  select tenant_id into v_tenant from lanefold.thread where id = p_thread_id;
  if v_tenant <> 'default' then
    perform lanefold.write_audit(p || jsonb_build_object('thread_id', p_thread_id, 'tenant_id', v_tenant));
  end if;
end $$;
