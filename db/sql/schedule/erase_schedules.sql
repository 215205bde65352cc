-- Erases the schedules of a tenant with their slots, which hold requests of runs. Nothing is noted for webhooks or audited, as
-- that would copy what is to be erased. A run whose slot a worker has taken may still start. Returns how many schedules there
-- were.
create or replace function lanefold.erase_schedules(p_tenant text)
returns int language plpgsql as $$
declare
  v_erased int;
begin
  -- first, as take_slot does
  delete from lanefold._schedule where tenant_id = p_tenant;
  get diagnostics v_erased = row_count;
  delete from lanefold._schedule_slot where tenant_id = p_tenant;
  perform pg_notify('lanefold_schedules', '');
  return v_erased;
end $$;
