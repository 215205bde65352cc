-- Whether a slot that was taken at p_taken_at may be taken again: its worker has died, or the clock was ahead.
create or replace function lanefold._may_retake(p_taken_at timestamptz, p_at timestamptz, p_again_ms int)
returns boolean language sql immutable parallel safe
return p_taken_at not between p_at - p_again_ms * interval '1 ms' and p_at;

-- The oldest open slot of each schedule that is due, or was taken more than p_again_ms ago, for workers with these agents:
-- {tenant_id, name, slot, due_at, before?: {thread_id, run_id}: the run of the slot before it}; up to p_limit, after p_after.
-- p_waiting: those that were found to wait for that run, else the others.
-- Any worker may take one whose agent no worker has known for ten minutes since it was taken, and fails it. Takes nothing.
create or replace function lanefold.open_slots(p_agents jsonb, p_limit int, p_again_ms int, p_after jsonb, p_waiting boolean)
returns setof jsonb language plpgsql stable as $$
declare
  v_at constant timestamptz := lanefold._now();
begin
  return query
    select jsonb_strip_nulls(jsonb_build_object('tenant_id', k.tenant_id, 'name', k.name, 'slot', k.slot, 'due_at', k.due_at,
      'before', (select jsonb_build_object('thread_id', b.thread_id, 'run_id', b.run_id) from lanefold._schedule_slot b
        where b.tenant_id = k.tenant_id and b.name = k.name and b.slot < k.slot and b.status = 'fired' order by b.slot desc limit 1)))
    from (
      select distinct on (o.tenant_id, o.name) o.* from lanefold._schedule_slot o
      where o.status in ('due', 'firing') order by o.tenant_id, o.name, o.slot) k
    left join lanefold._schedule c on c.tenant_id = k.tenant_id and c.name = k.name
    where k.due_at <= v_at and k.waits = p_waiting
      and (p_after is null or (k.due_at, k.tenant_id, k.name) > ((p_after ->> 'due_at')::timestamptz, p_after ->> 'tenant_id', p_after ->> 'name'))
      and case k.status when 'due' then c.paused_at is null and p_agents ? c.agent
        else lanefold._may_retake(k.taken_at, v_at, p_again_ms)
          and (p_agents ? (k.request ->> 'agent') or lanefold._may_retake(k.taken_at, v_at, 600000)) end
    order by k.due_at, k.tenant_id, k.name limit p_limit;
end $$;

-- Takes an open slot: the caller, which knows these agents, starts its run and settles it. p_active: the run of the slot
-- before it has not ended. Should the worker die, the slot is taken again after p_again_ms, and the request is what it was,
-- so that it is the same run. Returns {request: {agent, overlap, thread_id?, timing, definition, previous?, interrupts?: true
-- if it cancels the runs of earlier slots}, taken_at}, {skipped: true} if the slot passes because of the run before it,
-- {waits: true, passed: n} if it waits for that run, and for that n slots have passed, or null if another worker has it, or
-- the schedule was paused, removed or given to another agent.
create or replace function lanefold.take_slot(p_tenant text, p_name text, p_slot timestamptz, p_agents jsonb, p_active boolean, p_again_ms int)
returns jsonb language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
  s lanefold._schedule;
  k lanefold._schedule_slot;
  b lanefold._schedule_slot;
  v_waits boolean;
begin
  -- first, as pause_schedule and remove_schedule do
  select * into s from lanefold._schedule where tenant_id = p_tenant and name = p_name for share;
  select * into k from lanefold._schedule_slot where tenant_id = p_tenant and name = p_name and slot = p_slot for update skip locked;
  if k.name is null or k.status not in ('due', 'firing') or not lanefold._may_retake(k.taken_at, v_at, p_again_ms) then
    return null;
  end if;
  if k.status = 'due' then
    if s.name is null or s.paused_at is not null or not p_agents ? s.agent then
      return null;
    elsif p_active and s.overlap = 'skip' and not k.late then
      update lanefold._schedule_slot set status = 'skipped', settled_at = v_at where tenant_id = p_tenant and name = p_name and slot = p_slot;
      perform lanefold._note_slot(p_tenant, p_name, p_slot, s.agent);
      return jsonb_build_object('skipped', true);
    end if;
    select * into b from lanefold._schedule_slot o
    where o.tenant_id = p_tenant and o.name = p_name and o.slot < p_slot and o.status = 'fired' order by o.slot desc limit 1;
    -- of slots that interrupt, those that are caught up do not interrupt one another
    v_waits := s.overlap = 'queue' or k.late and (s.overlap = 'skip' or coalesce(b.late, false));
    if p_active and v_waits and s.thread_id is null then
      update lanefold._schedule_slot set waits = true where tenant_id = p_tenant and name = p_name and slot = p_slot and not waits;
      return jsonb_build_object('waits', true, 'passed', lanefold._pass_slots(s, v_at));
    end if;
    k.request := jsonb_strip_nulls(jsonb_build_object('agent', s.agent, 'overlap', s.overlap, 'thread_id', s.thread_id, 'previous', b.slot))
      || jsonb_build_object('timing', s.timing, 'definition', s.definition)
      || case when s.overlap = 'interrupt' and not v_waits then '{"interrupts": true}' else '{}' end::jsonb;
  end if;
  update lanefold._schedule_slot set status = 'firing', taken_at = v_at, request = k.request
  where tenant_id = p_tenant and name = p_name and slot = p_slot;
  return jsonb_build_object('request', k.request, 'taken_at', v_at);
end $$;

-- Skips the slots that pass while a slot that is caught up waits: if the schedule skips, those that come on time; if it
-- interrupts, the one that waits, once another comes on time, which has to interrupt. Returns how many.
create or replace function lanefold._pass_slots(s lanefold._schedule, p_at timestamptz)
returns int language plpgsql as $$
declare
  v_slots timestamptz[];
begin
  if s.overlap = 'queue' or not exists (
    select from lanefold._schedule_slot where tenant_id = s.tenant_id and name = s.name and status = 'due' and waits) then
    return 0;
  end if;
  with passed as (
    update lanefold._schedule_slot k set status = 'skipped', settled_at = p_at
    where k.tenant_id = s.tenant_id and k.name = s.name and k.status = 'due' and k.late = (s.overlap = 'interrupt')
      and case s.overlap
        when 'skip' then exists (select from lanefold._schedule_slot w
          where w.tenant_id = k.tenant_id and w.name = k.name and w.slot < k.slot and w.status = 'due' and w.waits)
        else exists (select from lanefold._schedule_slot n
          where n.tenant_id = k.tenant_id and n.name = k.name and n.slot > k.slot and n.status = 'due' and not n.late) end
    returning k.slot)
  select array_agg(slot order by slot) into v_slots from passed;
  perform lanefold._note_slot(s.tenant_id, s.name, x, s.agent) from unnest(v_slots) x;
  return coalesce(cardinality(v_slots), 0);
end $$;

-- Says what became of a slot that the caller took at p_taken_at. p: {status: fired|failed, thread_id?, run_id?, error?}.
create or replace function lanefold.settle_slot(p_tenant text, p_name text, p_slot timestamptz, p_taken_at timestamptz, p jsonb)
returns void language plpgsql as $$
declare
  v_at constant timestamptz := lanefold._now();
begin
  update lanefold._schedule_slot
  set status = p ->> 'status', settled_at = v_at, thread_id = p ->> 'thread_id', run_id = p ->> 'run_id', error = p -> 'error', request = null
  where tenant_id = p_tenant and name = p_name and slot = p_slot and status = 'firing' and taken_at = p_taken_at;
  if found and p ->> 'status' = 'failed' then
    perform lanefold._note_slot(p_tenant, p_name, p_slot, null);
  end if;
end $$;

-- Deletes settled slots that are older than p_days, up to p_most, but the last one that has fired of each schedule: the next
-- slot looks back at it. Returns how many.
create or replace function lanefold.drop_slots(p_days float8, p_most int)
returns int language plpgsql as $$
declare
  v_before constant timestamptz := lanefold._now() - p_days * interval '1 day';
  v_dropped int;
begin
  delete from lanefold._schedule_slot o
  where (o.tenant_id, o.name, o.slot) in (
    select k.tenant_id, k.name, k.slot from lanefold._schedule_slot k
    where k.settled_at < v_before and (k.status <> 'fired' or exists (
      select from lanefold._schedule_slot n
      where n.tenant_id = k.tenant_id and n.name = k.name and n.slot > k.slot and n.status = 'fired')
      or not exists (select from lanefold._schedule s where s.tenant_id = k.tenant_id and s.name = k.name))
    order by k.settled_at limit p_most for update skip locked);
  get diagnostics v_dropped = row_count;
  return v_dropped;
end $$;
