-- Deletes events that are kept no longer, of all tenants that the session sees, up to p_most. Returns how many.
create or replace function lanefold.drop_kept_events(p_most int)
returns int language plpgsql as $$
declare
  -- a worker that takes over a wait may ask late
  v_outdated constant timestamptz := lanefold._now() - interval '1 day';
  v_dropped int;
begin
  delete from lanefold._kept_event k where (k.tenant_id, k.event) in (
    select o.tenant_id, o.event from lanefold._kept_event o where o.keep_until < v_outdated
    order by o.keep_until limit p_most for update skip locked);
  get diagnostics v_dropped = row_count;
  return v_dropped;
end $$;

-- Erases the events that are kept for a tenant.
create or replace function lanefold.erase_kept_events(p_tenant text)
returns void language plpgsql as $$
begin
  delete from lanefold._kept_event where tenant_id = p_tenant;
end $$;
