-- Sets a schedule, or replaces it. p: {agent, overlap, thread_id?, timing, definition, next_at?, source: code|user, by}. A
-- schedule that is paused stays paused. With the same timing, the next slot stays what it is, so that a deployment loses
-- none; with another, a slot that has come but was not seen yet is kept. Setting a schedule to what it is changes nothing.
-- A change is audited. Returns the row. Raises LF016.
create or replace function lanefold.set_schedule(p_tenant text, p_name text, p jsonb)
returns jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  s lanefold._schedule;
  o lanefold._schedule;
  v_late boolean;
  v_status text;
  v_given constant text[] := array['agent', 'overlap', 'thread_id', 'timing', 'definition', 'source'];
begin
  perform lanefold._check_id(p_tenant, 'tenant id');
  perform lanefold._check_id(p_name, 'schedule name');
  select * into o from lanefold._schedule where tenant_id = p_tenant and name = p_name for update;
  if o.name is null then
    insert into lanefold._schedule (tenant_id, name, version, next_at, created_at, updated_at, agent, overlap, thread_id, timing, definition, source, updated_by)
    values (p_tenant, p_name, 1, date_trunc('milliseconds', (p ->> 'next_at')::timestamptz), v_at, v_at, p ->> 'agent', p ->> 'overlap', p ->> 'thread_id', p -> 'timing',
      p -> 'definition', p ->> 'source', p ->> 'by')
    on conflict (tenant_id, name) do nothing returning * into s;
    if s.name is null then
      -- set by another session just now
      return lanefold.set_schedule(p_tenant, p_name, p);
    end if;
  elsif not exists (select from unnest(v_given) k where to_jsonb(o) -> k is distinct from coalesce(p -> k, 'null')) then
    return to_jsonb(o);
  else
    if o.timing <> p -> 'timing' and o.next_at <= v_at then
      -- as dueAt in src/features/schedules/definition decides about a slot that no worker saw for a minute
      v_late := o.next_at < v_at - interval '1 minute';
      v_status := case when v_late and o.definition ->> 'catch_up' = 'none' then 'missed' else 'due' end;
      insert into lanefold._schedule_slot (tenant_id, name, slot, due_at, late, status, settled_at)
      values (p_tenant, p_name, o.next_at, o.next_at, v_late, v_status, case v_status when 'missed' then v_at end)
      on conflict (tenant_id, name, slot) do nothing;
      if found and v_status = 'missed' then
        perform lanefold._note_slot(p_tenant, p_name, o.next_at, o.agent);
      end if;
    end if;
    update lanefold._schedule
    set version = version + 1, updated_at = v_at, agent = p ->> 'agent', overlap = p ->> 'overlap', thread_id = p ->> 'thread_id',
        timing = p -> 'timing', definition = p -> 'definition', source = p ->> 'source', updated_by = p ->> 'by',
        next_at = case when paused_at is null and timing <> p -> 'timing' then date_trunc('milliseconds', (p ->> 'next_at')::timestamptz) else next_at end
    where tenant_id = p_tenant and name = p_name returning * into s;
    -- with another overlap, it may no longer have to
    update lanefold._schedule_slot set waits = false where tenant_id = p_tenant and name = p_name and status = 'due' and waits;
  end if;
  perform lanefold._changed_schedule('set', to_jsonb(o), to_jsonb(s), p ->> 'by');
  return to_jsonb(s);
end $$;

-- Removes a schedule, only if it has the source p_source, if that is given. Slots that have come and not started a run are
-- skipped; what its earlier slots did stays. Returns whether there was one.
create or replace function lanefold.remove_schedule(p_tenant text, p_name text, p_by text, p_source text default null)
returns boolean language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  o lanefold._schedule;
begin
  delete from lanefold._schedule where tenant_id = p_tenant and name = p_name and source = coalesce(p_source, source) returning * into o;
  if o.name is null then
    return false;
  end if;
  perform lanefold._skip_slots(o, v_at);
  perform lanefold._changed_schedule('remove', to_jsonb(o), null, p_by);
  return true;
end $$;

-- Pauses a schedule, or lets it continue with the slot p_next_at. Slots that have come and not started a run are skipped.
-- Returns its row, or null if there is none, or if it was changed since the caller read it as p_version.
create or replace function lanefold.pause_schedule(p_tenant text, p_name text, p_version bigint, p_paused boolean, p_next_at timestamptz, p_by text)
returns jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  s lanefold._schedule;
begin
  select * into s from lanefold._schedule where tenant_id = p_tenant and name = p_name for update;
  if s.name is null or s.version <> p_version then
    return null;
  elsif (s.paused_at is not null) = p_paused then
    return to_jsonb(s);
  elsif p_paused then
    perform lanefold._skip_slots(s, v_at);
  end if;
  update lanefold._schedule
  set version = version + 1, updated_at = v_at, updated_by = p_by, paused_at = case when p_paused then v_at end,
      next_at = case when not p_paused then date_trunc('milliseconds', p_next_at) end
  where tenant_id = p_tenant and name = p_name returning * into s;
  perform lanefold._changed_schedule(case when p_paused then 'pause' else 'resume' end, null, to_jsonb(s), p_by);
  return to_jsonb(s);
end $$;

-- Skips the slots of a schedule that have come and not started a run, also one that no worker has seen yet, and notes them.
create or replace function lanefold._skip_slots(s lanefold._schedule, p_at timestamptz)
returns void language plpgsql as $$
declare
  v_slots timestamptz[];
begin
  insert into lanefold._schedule_slot (tenant_id, name, slot, due_at, status)
  select s.tenant_id, s.name, s.next_at, s.next_at, 'due' where s.next_at <= p_at
  on conflict (tenant_id, name, slot) do nothing;
  with skipped as (
    update lanefold._schedule_slot set status = 'skipped', settled_at = p_at
    where tenant_id = s.tenant_id and name = s.name and status = 'due' returning slot)
  select array_agg(slot order by slot) into v_slots from skipped;
  perform lanefold._note_slot(s.tenant_id, s.name, x, s.agent) from unnest(v_slots) x;
end $$;

-- Audits a change of a schedule, and wakes the workers. The tool context of its runs, which may be secret, is left out.
create or replace function lanefold._changed_schedule(p_action text, p_old jsonb, p_new jsonb, p_by text)
returns void language plpgsql as $$
declare
  v_own constant text[] := array['tenant_id', 'name', 'version', 'next_at', 'paused_at', 'created_at', 'updated_at', 'updated_by'];
begin
  perform lanefold.write_audit(jsonb_build_object('actor', p_by, 'action', 'schedules.' || p_action,
    'tenant_id', coalesce(p_new, p_old) -> 'tenant_id',
    'detail', jsonb_strip_nulls(jsonb_build_object('name', coalesce(p_new, p_old) -> 'name'))
      || case when p_action in ('set', 'remove') and p_old ->> 'name' is not null then jsonb_build_object('old', (p_old - v_own) #- '{definition,options,tool_context}') else '{}' end
      || case when p_action = 'set' then jsonb_build_object('new', (p_new - v_own) #- '{definition,options,tool_context}') else '{}' end));
  perform pg_notify('lanefold_schedules', '');
end $$;
