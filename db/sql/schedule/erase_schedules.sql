-- Erases the schedules of a tenant with their slots, which hold requests of runs. Nothing is noted for webhooks or audited, as
-- that would copy what is to be erased. A run whose slot a worker has taken may still start.
create or replace function lanefold.erase_schedules(p_tenant text)
returns void language plpgsql as $$
begin
  -- first, as take_slot does
  delete from lanefold._schedule where tenant_id = p_tenant;
  delete from lanefold._schedule_slot where tenant_id = p_tenant;
  perform pg_notify('lanefold_schedules', '');
end $$;
