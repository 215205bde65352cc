-- Removes the endpoints of a tenant, as remove_webhook does; workers delete their deliveries, and after a day their rows.
-- Returns how many there were.
create or replace function lanefold.erase_webhooks(p_tenant text, p_by text)
returns int language plpgsql as $$
declare
  v_names constant text[] := array(select name from lanefold._webhook where tenant_id = p_tenant and removed_at is null);
  v_name text;
begin
  foreach v_name in array v_names loop
    perform lanefold.remove_webhook(p_tenant, v_name, p_by);
  end loop;
  return cardinality(v_names);
end $$;
