-- Removes the endpoints of a tenant, as remove_webhook does; workers delete their deliveries, and after a day their rows.
create or replace function lanefold.erase_webhooks(p_tenant text, p_by text)
returns void language plpgsql as $$
declare
  v_name text;
begin
  foreach v_name in array array(select name from lanefold._webhook where tenant_id = p_tenant and removed_at is null) loop
    perform lanefold.remove_webhook(p_tenant, v_name, p_by);
  end loop;
end $$;
