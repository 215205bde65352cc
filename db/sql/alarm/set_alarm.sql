-- Sets an alarm, or changes it. p: {filter, more_than, share?, within_ms, clear_after_ms, by}. Setting it to what it already is
-- changes nothing. A change keeps its counts and clears it, with an event; what is paused stays paused. Audited. The library checks
-- the fields (src/features/alarms/operations/alarms.ts). Raises LF014 if the tenant has 50 of them; LF016.
create or replace function lanefold.set_alarm(p_tenant text, p_name text, p jsonb)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  v_given constant text[] := array['filter', 'more_than', 'share', 'within_ms', 'clear_after_ms'];
  a lanefold._alarm;
begin
  perform lanefold._check_id(p_tenant, 'tenant id');
  perform lanefold._check_id(p_name, 'alarm name');
  select * into a from lanefold._alarm where tenant_id = p_tenant and name = p_name for update;
  if a.name is null and (select count(*) from lanefold._alarm where tenant_id = p_tenant) >= 50 then
    perform lanefold._fail('LF014', format('Tenant %s has 50 alarms.', p_tenant), 'Nothing was written. Remove one first.');
  elsif a.name is not null and not exists (select from unnest(v_given) k where to_jsonb(a) -> k is distinct from coalesce(p -> k, 'null')) then
    return;
  end if;
  perform lanefold._clear_alarm(a, 'changed', '{}');
  insert into lanefold._alarm (tenant_id, name, filter, more_than, share, within_ms, clear_after_ms, created_at, updated_at, updated_by)
  values (p_tenant, p_name, p -> 'filter', (p ->> 'more_than')::bigint, (p ->> 'share')::float8, (p ->> 'within_ms')::bigint,
    (p ->> 'clear_after_ms')::bigint, v_at, v_at, p ->> 'by')
  on conflict (tenant_id, name) do update
  set filter = excluded.filter, more_than = excluded.more_than, share = excluded.share, within_ms = excluded.within_ms,
      clear_after_ms = excluded.clear_after_ms, updated_at = excluded.updated_at, updated_by = excluded.updated_by,
      taken_at = null, held_until = null;
  perform lanefold._changed_alarm('set', p_tenant, p_name, p ->> 'by', jsonb_build_object('new', p - 'by'));
end $$;

-- Removes an alarm and its counts; one that is raised is cleared, with an event. Audited. Returns whether there was one.
create or replace function lanefold.remove_alarm(p_tenant text, p_name text, p_by text)
returns boolean language plpgsql as $$
declare
  a lanefold._alarm;
begin
  select * into a from lanefold._alarm where tenant_id = p_tenant and name = p_name for update;
  if a.name is null then
    return false;
  end if;
  perform lanefold._clear_alarm(a, 'removed', '{}');
  delete from lanefold._alarm where tenant_id = p_tenant and name = p_name;
  delete from lanefold._alarm_count where tenant_id = p_tenant and alarm = p_name;
  perform lanefold._changed_alarm('remove', p_tenant, p_name, p_by, '{}');
  return true;
end $$;

-- Pauses an alarm, which clears it, with an event; or lets it continue. Audited. Returns whether there is one.
create or replace function lanefold.pause_alarm(p_tenant text, p_name text, p_paused boolean, p_by text)
returns boolean language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  a lanefold._alarm;
begin
  select * into a from lanefold._alarm where tenant_id = p_tenant and name = p_name for update;
  if a.name is null then
    return false;
  elsif (a.paused_at is not null) = p_paused then
    return true;
  end if;
  perform lanefold._clear_alarm(a, 'paused', '{}');
  update lanefold._alarm
  set paused_at = case when p_paused then v_at end, updated_at = v_at, updated_by = p_by, taken_at = null, held_until = null
  where tenant_id = p_tenant and name = p_name;
  perform lanefold._changed_alarm(case when p_paused then 'pause' else 'resume' end, p_tenant, p_name, p_by, '{}');
  return true;
end $$;

-- Removes the alarms of a tenant and their counts, without events. The erasure is audited by its caller.
create or replace function lanefold.erase_alarms(p_tenant text)
returns void language plpgsql as $$
begin
  delete from lanefold._alarm_count where tenant_id = p_tenant;
  delete from lanefold._alarm where tenant_id = p_tenant;
end $$;

create or replace function lanefold._changed_alarm(p_action text, p_tenant text, p_name text, p_by text, p_detail jsonb)
returns void language plpgsql as $$
begin
  perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'alarms.' || p_action, 'tenant_id', p_tenant,
    'detail', jsonb_build_object('name', p_name) || p_detail));
end $$;
