-- Moves a schedule on from the slot p_from to p_next, null at its end, and stores the slots that have come: p_slots is
-- [{slot, due_at?, late?, status: due|missed}]. Once 2,000 of its slots are open, more are missed. Returns null if another
-- worker has moved it, or it was changed since the caller read it as p_version; else {missed: n, skipped: n}, how many slots
-- have passed.
create or replace function lanefold.advance_schedule(p_tenant text, p_name text, p_version bigint, p_from timestamptz, p_next timestamptz, p_slots jsonb)
returns jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  s lanefold._schedule;
  v_room bigint;
  v_missed timestamptz[];
begin
  update lanefold._schedule set next_at = p_next
  where tenant_id = p_tenant and name = p_name and version = p_version and next_at is not distinct from p_from and paused_at is null
  returning * into s;
  if not found then
    return null;
  end if;
  select 2000 - count(*) into v_room from (
    select from lanefold._schedule_slot where tenant_id = p_tenant and name = p_name and status in ('due', 'firing') limit 2000) o;
  insert into lanefold._schedule_slot as k (tenant_id, name, slot, due_at, late, status, settled_at)
  select p_tenant, p_name, x.slot, coalesce(x.due_at, x.slot), coalesce(x.late, false), x.status, case when x.status = 'missed' then v_at end
  from (
    select g.slot, g.due_at, g.late, case when row_number() over (order by g.slot) > v_room then 'missed' else g.status end as status
    from jsonb_to_recordset(p_slots) g (slot timestamptz, due_at timestamptz, late boolean, status text)) x
  -- a schedule that was removed and set again may come to a slot twice, and a clock that was ahead has missed what comes
  on conflict (tenant_id, name, slot) do update set status = excluded.status, due_at = excluded.due_at, late = excluded.late, settled_at = null
    where k.status = 'missed' and excluded.status = 'due';
  select array_agg(k.slot order by k.slot) into v_missed from lanefold._schedule_slot k
  join jsonb_to_recordset(p_slots) x (slot timestamptz) on x.slot = k.slot
  where k.tenant_id = p_tenant and k.name = p_name and k.status = 'missed' and k.settled_at = v_at;
  perform lanefold._note_slot(p_tenant, p_name, x, null) from unnest(v_missed) x;
  return jsonb_build_object('missed', coalesce(cardinality(v_missed), 0), 'skipped', lanefold._pass_slots(s, v_at));
end $$;

-- Notes a slot that has started no run, after its outcome is written. A slot may have several outcomes: one that was missed
-- may be caught up, and fail.
create or replace function lanefold._note_slot(p_tenant text, p_name text, p_slot timestamptz, p_agent text)
returns void language plpgsql as $$
declare
  v_agent text := p_agent;
  k lanefold._schedule_slot;
begin
  if v_agent is null then
    select agent into v_agent from lanefold._schedule where tenant_id = p_tenant and name = p_name;
  end if;
  select * into k from lanefold._schedule_slot where tenant_id = p_tenant and name = p_name and slot = p_slot;
  if lanefold._note_event(format('/schedules/%s/%s', p_tenant, p_name), p_tenant, 'schedule.missed', v_agent,
    format('%s %s %s', p_name, extract(epoch from p_slot), k.status),
    jsonb_strip_nulls(jsonb_build_object('schedule', p_name, 'slot', p_slot, 'agent', v_agent, 'status', k.status, 'error', k.error)))
  then
    perform pg_notify('lanefold_webhooks', '');
  end if;
end $$;
