-- Sets a schedule, or replaces it. p: {agent, overlap, thread_id?, timing, definition, next_at?, source: code|user, by}. A
-- schedule that is paused stays paused. With the same timing, the next slot stays what it is, so that a deployment loses
-- none. Setting a schedule to what it is changes nothing. Returns the row. Raises LF016.
create or replace function lanefold.set_schedule(p_tenant text, p_name text, p jsonb)
returns jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  s lanefold._schedule;
  v_old jsonb;
  v_new jsonb;
begin
  perform lanefold._check_id(p_tenant, 'tenant id');
  perform lanefold._check_id(p_name, 'schedule name');
  select * into s from lanefold._schedule where tenant_id = p_tenant and name = p_name for update;
  v_old := to_jsonb(s) - array['version', 'next_at', 'paused_at', 'created_at', 'updated_at', 'updated_by'];
  v_new := v_old || jsonb_build_object('tenant_id', p_tenant, 'name', p_name, 'agent', p -> 'agent', 'overlap', p -> 'overlap',
    'thread_id', p -> 'thread_id', 'timing', p -> 'timing', 'definition', p -> 'definition', 'source', p -> 'source');
  if s.name is null then
    insert into lanefold._schedule (tenant_id, name, version, next_at, created_at, updated_at, agent, overlap, thread_id, timing, definition, source, updated_by)
    values (p_tenant, p_name, 1, (p ->> 'next_at')::timestamptz, v_at, v_at, p ->> 'agent', p ->> 'overlap', p ->> 'thread_id', p -> 'timing',
      p -> 'definition', p ->> 'source', p ->> 'by')
    on conflict (tenant_id, name) do nothing returning * into s;
    if s.name is null then
      -- set by another session just now
      return lanefold.set_schedule(p_tenant, p_name, p);
    end if;
  elsif v_old <> v_new then
    update lanefold._schedule
    set version = version + 1, updated_at = v_at, agent = p ->> 'agent', overlap = p ->> 'overlap', thread_id = p ->> 'thread_id',
        timing = p -> 'timing', definition = p -> 'definition', source = p ->> 'source', updated_by = p ->> 'by',
        -- a slot that has come is settled by the old times
        next_at = case when paused_at is not null then null when timing = p -> 'timing' or next_at <= v_at then next_at
          else (p ->> 'next_at')::timestamptz end
    where tenant_id = p_tenant and name = p_name returning * into s;
  else
    return to_jsonb(s);
  end if;
  perform pg_notify('lanefold_schedules', '');
  return to_jsonb(s);
end $$;

-- Removes a schedule and the slots that have not started a run. What its earlier slots did stays. Returns whether there was
-- one.
create or replace function lanefold.remove_schedule(p_tenant text, p_name text)
returns boolean language plpgsql as $$
declare
  v_found boolean;
begin
  delete from lanefold._schedule where tenant_id = p_tenant and name = p_name;
  v_found := found;
  perform pg_notify('lanefold_schedules', '');
  update lanefold._schedule_slot set status = 'skipped', settled_at = lanefold._now()
  where tenant_id = p_tenant and name = p_name and status = 'due';
  return v_found;
end $$;

-- Pauses a schedule, or lets it go on with the slot p_next_at. The slots in between pass. Returns its row, or null if there
-- is none.
create or replace function lanefold.pause_schedule(p_tenant text, p_name text, p_paused boolean, p_next_at timestamptz, p_by text)
returns jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  s lanefold._schedule;
begin
  select * into s from lanefold._schedule where tenant_id = p_tenant and name = p_name for update;
  if s.name is null or (s.paused_at is not null) = p_paused then
    return to_jsonb(s);
  end if;
  update lanefold._schedule
  set version = version + 1, updated_at = v_at, updated_by = p_by, paused_at = case when p_paused then v_at end,
      next_at = case when not p_paused then p_next_at end
  where tenant_id = p_tenant and name = p_name returning * into s;
  perform pg_notify('lanefold_schedules', '');
  return to_jsonb(s);
end $$;
